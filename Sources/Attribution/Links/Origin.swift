/// A web origin as browsers send it: `https://shop.example` or `http://localhost:3000` (RFC 6454).
public struct Origin: Hashable, Sendable {
    /// In lower case, without the scheme's own port.
    public let text: String

    /// Nil for `null`, for anything with a path, and for whatever else is no origin.
    ///
    /// `null` is what every sandboxed frame and local file sends: it names nobody.
    public init?(_ text: String) {
        guard let parts = try? URLParts(Array(text.utf8)), parts.path.isEmpty, parts.query == nil,
            parts.fragment == nil, let host = try? parts.host()
        else { return nil }
        let isDefaultPort = host.port == URLHost.defaultPort(ofScheme: parts.scheme)
        let port = isDefaultPort ? "" : host.port.map { ":\($0)" } ?? ""
        self.text = "\(parts.scheme)://\(host.name)\(port)"
    }

    /// Its host without the port.
    public var host: LinkHost? {
        text.range(ofASCII: "://").flatMap { LinkHost(String(text[$0.upperBound...])) }
    }
}
