internal import Attribution
internal import DomainFiles
package import JSON

/// The JSON form of a check of domain files.
package struct DomainCheckBody {
    private let check: DomainCheck

    package init(_ check: DomainCheck) {
        self.check = check
    }

    package func json(isPretty: Bool = false) -> JSONWriter {
        var json = JSONWriter(isPretty: isPretty, reservedCapacity: 2048)
        json.object { json in
            json.member("subject", check.subject)
            json.member("ok", !check.hasErrors)
            json.member("files") { json in
                json.array { json in for file in check.files { write(file, &json) } }
            }
        }
        return json
    }

    private func write(_ file: DomainFileCheck, _ json: inout JSONWriter) {
        json.object { json in
            json.member("file", file.kind.rawValue)
            json.member("source", file.source)
            json.member("bytes", file.byteCount)
            json.member("ok", !file.hasErrors)
            json.member("findings") { json in
                json.array { json in for finding in file.findings { write(finding, &json) } }
            }
            guard let url = check.url else { return }
            json.member("decisions") { json in
                json.array { json in for decision in file.decisions(for: url) { write(decision, &json) } }
            }
        }
    }

    private func write(_ finding: AssociationFinding, _ json: inout JSONWriter) {
        json.object { json in
            json.member("severity", finding.severity.rawValue)
            json.member("rule", finding.rule.rawValue)
            json.member("place", finding.place)
            json.member("problem", finding.problem)
            json.member("advice", finding.advice)
        }
    }

    private func write(_ decision: RuleDecision, _ json: inout JSONWriter) {
        json.object { json in
            json.member("app", decision.app)
            json.member("outcome", decision.outcome.rawValue)
            json.member("place", decision.place)
            json.member("rule", decision.rule)
        }
    }
}
