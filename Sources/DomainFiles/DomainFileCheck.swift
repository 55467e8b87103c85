internal import JSON

/// One domain file, held against every rule of its format.
package struct DomainFileCheck: Sendable {
    package let kind: DomainFile
    /// Where it was found: a URL, or a file's path.
    package let source: String
    package let byteCount: Int?
    package var findings: [AssociationFinding]
    /// What it says, as far as it could be read.
    package private(set) var apple: AppleAssociation?
    package private(set) var google: AssetLinks?

    /// One that was not to be had.
    package init(_ kind: DomainFile, from source: String, without findings: [AssociationFinding]) {
        self.kind = kind
        self.source = source
        self.findings = findings
        byteCount = nil
    }

    /// - Parameters:
    ///   - kind: nil tells it by the source's name, or else by the content.
    ///   - bytes: all of it.
    ///   - source: where it was found.
    package init(_ kind: DomainFile?, _ bytes: [UInt8], from source: String) {
        var reader = DomainFileReader()
        let value = reader.document(bytes)
        let named = source.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
        let kind = kind ?? (named.contains("assetlinks") || value?.array != nil ? .google : .apple)
        self.kind = kind
        self.source = source
        byteCount = bytes.count
        if let value, kind == .apple {
            apple = reader.appleAssociation(value)
            reader.findings += apple.map(\.findings) ?? []
        } else if let value {
            google = reader.assetLinks(value)
            reader.findings += google.map(\.findings) ?? []
        }
        findings = reader.findings
    }

    /// What becomes of a URL, app by app.
    package func decisions(for url: AssociationURL) -> [RuleDecision] {
        apple.map { $0.decisions(for: url) } ?? google.map { $0.decisions(for: url) } ?? []
    }

    package var hasErrors: Bool { findings.contains { $0.severity == .error } }
}
