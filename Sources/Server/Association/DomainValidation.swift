package import Attribution
package import DomainFiles
package import HTTPServer
package import JSON

/// The validated domain files of a host, or a single file, and what they decide about a URL.
package struct DomainValidation: Sendable {
    /// The host, URL or path of a file that was validated.
    package let subject: String
    package let files: [DomainFileValidation]
    package let url: AssociationURL?

    package init(_ subject: String, _ files: [DomainFileValidation], url: AssociationURL? = nil) {
        self.subject = subject
        self.files = files
        self.url = url
    }

    /// Fetches both files of a host where Apple and Google look for them; blocks.
    ///
    /// - Parameters:
    ///   - host: a host name, with a port if it is not public yet.
    ///   - url: the URL to decide about.
    ///   - client: makes the calls.
    /// - Returns: nil if `host` is not a host name.
    package static func ofHost(_ host: String, url: AssociationURL?, by client: HTTPSClient)
        -> DomainValidation?
    {
        let files = DomainFile.allCases.compactMap { kind in
            (try? WebURL(parsing: "https://\(host)\(kind.path)")).map { address in
                kind == .apple
                    ? appleFile(address, host, client) : DomainFileValidation.fetch(kind, address, by: client)
            }
        }
        return files.isEmpty ? nil : DomainValidation(host, files, url: url)
    }

    /// Fetches Apple's file, from the root if there is none under `.well-known`, as Apple does.
    private static func appleFile(_ url: WebURL, _ host: String, _ client: HTTPSClient)
        -> DomainFileValidation
    {
        let file = DomainFileValidation.fetch(.apple, url, by: client)
        guard file.findings.contains(where: { $0.kind == .status }),
            let root = try? WebURL(parsing: "https://\(host)/\(DomainFile.apple.rawValue)")
        else { return file }
        var other = DomainFileValidation.fetch(.apple, root, by: client)
        guard other.byteCount != nil else { return file }
        other.findings.insert(AssociationFinding(.rootLocation, DomainFile.apple.path), at: 0)
        return other
    }

    /// Fetches one file; blocks.
    package static func ofURL(_ address: WebURL, url: AssociationURL?, by client: HTTPSClient)
        -> DomainValidation
    {
        DomainValidation(address.text, [DomainFileValidation.fetch(nil, address, by: client)], url: url)
    }

    package var hasErrors: Bool { files.contains(where: \.hasErrors) }
}

extension DomainValidation {
    package func json(isPretty: Bool = false) -> JSONWriter {
        var json = JSONWriter(isPretty: isPretty, reservedCapacity: 2048)
        json.object { json in
            json.member("subject", subject)
            json.member("ok", !hasErrors)
            json.member("files") { json in
                json.array { json in for file in files { write(file, &json) } }
            }
        }
        return json
    }

    private func write(_ file: DomainFileValidation, _ json: inout JSONWriter) {
        json.object { json in
            json.member("file", file.kind.rawValue)
            json.member("source", file.source)
            json.member("bytes", file.byteCount)
            json.member("ok", !file.hasErrors)
            json.member("findings") { json in
                json.array { json in
                    for finding in file.findings {
                        json.object { json in
                            json.member("severity", finding.severity.rawValue)
                            json.member("rule", finding.rule)
                            json.member("place", finding.place)
                            json.member("problem", finding.problem)
                            json.member("advice", finding.advice)
                        }
                    }
                }
            }
            guard let url else { return }
            json.member("decisions") { json in
                json.array { json in
                    for decision in file.decisions(for: url) {
                        json.object { json in
                            json.member("app", decision.app)
                            json.member("outcome", decision.outcome.rawValue)
                            json.member("place", decision.place)
                            json.member("rule", decision.rule)
                        }
                    }
                }
            }
        }
    }
}
