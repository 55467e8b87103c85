package import Attribution
package import DomainFiles
package import HTTPServer

/// The domain files of a host, or a single one, and what becomes of a URL by them.
package struct DomainCheck: Sendable {
    /// What was looked at: a host, a URL or a file.
    package let subject: String
    package let files: [DomainFileCheck]
    package let url: AssociationURL?

    package init(_ subject: String, _ files: [DomainFileCheck], url: AssociationURL? = nil) {
        self.subject = subject
        self.files = files
        self.url = url
    }

    /// Fetches both files of a host where Apple and Google look for them; blocks.
    ///
    /// - Parameters:
    ///   - host: a host name, with a port for one that is not public yet.
    ///   - url: what is to be decided.
    ///   - client: makes the calls.
    /// - Returns: nil where `host` is no host name.
    package static func ofHost(_ host: String, url: AssociationURL?, by client: HTTPSClient) -> DomainCheck? {
        let files = DomainFile.allCases.compactMap { kind in
            (try? WebURL(parsing: "https://\(host)\(kind.path)")).map { address in
                kind == .apple
                    ? appleFile(address, host, client) : DomainFileCheck.fetch(kind, address, by: client)
            }
        }
        return files.isEmpty ? nil : DomainCheck(host, files, url: url)
    }

    /// Apple looks at the root where there is nothing under `.well-known`.
    private static func appleFile(_ url: WebURL, _ host: String, _ client: HTTPSClient) -> DomainFileCheck {
        let file = DomainFileCheck.fetch(.apple, url, by: client)
        let isMissing = file.findings.contains { $0.rule == .status }
        guard isMissing,
            let root = try? WebURL(parsing: "https://\(host)/\(DomainFile.apple.rawValue)")
        else {
            return file
        }
        var other = DomainFileCheck.fetch(.apple, root, by: client)
        guard other.byteCount != nil else { return file }
        other.findings.insert(
            AssociationFinding(
                .location,
                "The file is at the root alone, where systems look second and newer ones not at all",
                "Serve it under \(DomainFile.apple.path)"
            ),
            at: 0
        )
        return other
    }

    /// Fetches one file; blocks.
    package static func ofURL(_ address: WebURL, url: AssociationURL?, by client: HTTPSClient) -> DomainCheck
    {
        DomainCheck(address.text, [DomainFileCheck.fetch(nil, address, by: client)], url: url)
    }

    package var hasErrors: Bool { files.contains(where: \.hasErrors) }
}
