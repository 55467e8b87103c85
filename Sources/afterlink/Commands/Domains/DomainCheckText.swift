internal import Attribution
internal import Server

/// The text of a validation of domain files.
struct DomainCheckText {
    private let check: DomainCheck

    init(_ check: DomainCheck) {
        self.check = check
    }

    var text: String {
        check.files.map(paragraph).joined(separator: "\n\n")
    }

    private func paragraph(_ file: DomainFileCheck) -> String {
        let size = file.byteCount.map { ", \($0) bytes" } ?? ""
        var lines = ["\(file.kind.rawValue) (\(file.source)\(size)): \(verdict(file))"]
        for finding in file.findings {
            lines.append(
                "  \(finding.severity.rawValue)\(finding.place.isEmpty ? "" : " at \(finding.place)")"
            )
            lines.append("    \(finding.problem).")
            lines.append("    \(finding.advice).")
        }
        if let url = check.url { lines += file.decisions(for: url).map { "  \(sentence($0))" } }
        // Text from a foreign file must not start lines of its own.
        return lines.map(Table.printable).joined(separator: "\n")
    }

    private func verdict(_ file: DomainFileCheck) -> String {
        guard !file.findings.isEmpty else { return "good" }
        let counts = [AssociationFinding.Severity.error, .warning, .note].compactMap { severity in
            let count = file.findings.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        return counts.joined(separator: ", ")
    }

    private func sentence(_ decision: RuleDecision) -> String {
        let rule = decision.rule.map { " by \"\($0)\" at \(decision.place ?? "")" } ?? ""
        return switch decision.outcome {
        case .opensApp: "\(decision.app) opens it\(rule)"
        case .excluded: "\(decision.app): it stays in the browser\(rule)"
        case .noRule: "\(decision.app): it stays in the browser, no rule fits"
        case .tooComplex: "\(decision.app): unknown, too complex to compare\(rule)"
        case .byManifest: "\(decision.app): the app's manifest decides, the file has no rules for it"
        }
    }
}
