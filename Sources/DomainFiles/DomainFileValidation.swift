package import Attribution
internal import JSON

/// A domain file and the findings about it.
package struct DomainFileValidation: Sendable {
    package let kind: DomainFile
    /// The URL or the path of the file.
    package let source: String
    /// The file's length in bytes; nil if the service could not read the file.
    package let byteCount: Int?
    package var findings: [AssociationFinding]
    /// The content of Apple's file; nil for Google's file, and for a file that was not read or is no JSON object.
    package private(set) var apple: AppleAssociation?
    /// The content of Google's file; nil for Apple's file, and for a file that was not read or is no JSON array.
    package private(set) var google: AssetLinks?

    /// Creates the result for a file that the service could not read.
    package init(_ kind: DomainFile, from source: String, without findings: [AssociationFinding]) {
        self.kind = kind
        self.source = source
        self.findings = findings
        byteCount = nil
    }

    /// Validates a file.
    ///
    /// - Parameters:
    ///   - kind: the kind of file; nil to derive it. A file is then Google's if its name contains `assetlinks` or its
    ///     content is an array, and otherwise Apple's.
    ///   - bytes: the whole file.
    ///   - source: the URL or the path of the file.
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

    /// Generates and validates both files of a link host.
    ///
    /// - Parameters:
    ///   - host: the link host.
    ///   - apps: the apps that list the host.
    /// - Returns: the results with the files; a file is `{}` or `[]` if no app has an id of the platform.
    package static func generated(for host: LinkHost, of apps: [App]) -> [(file: Self, body: [UInt8])] {
        let bodies = [
            AppleAssociation(apps: apps).json().bytes, AssetLinks(host: host, apps: apps).json().bytes,
        ]
        return zip([DomainFile.apple, .google], bodies).map { kind, body in
            (Self(kind, body, from: kind.path), body)
        }
    }

    /// Returns the decision about a URL for each app; empty if the file could not be read.
    package func decisions(for url: AssociationURL) -> [RuleDecision] {
        apple.map { $0.decisions(for: url) } ?? google.map { $0.decisions(for: url) } ?? []
    }

    package var hasErrors: Bool { findings.contains { $0.severity == .error } }
}
