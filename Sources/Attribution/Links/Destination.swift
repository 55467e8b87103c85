/// A target that an operator allows for visitors' clicks: a scheme of the app's own, or a web host.
///
/// `myapp://` allows every link of that scheme, and `myapp://host` those of that host. `https://shop.example`
/// allows links of exactly that host and port, and `https://shop.example/path` those at or below that path.
public struct Destination: Hashable, Sendable {
    /// The text that is stored and shown: scheme and host in lower case.
    public let text: String

    private let scheme: String
    /// Nil allows every host.
    private let host: String?
    private let port: UInt16?
    /// The path without slashes at its end; empty allows every path.
    private let path: [UInt8]

    /// - Throws: ``DestinationError``, whose message says what to do.
    public init(parsing text: String) throws(DestinationError) {
        let bytes = Array(text.trimmed.utf8)
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) else {
            throw .malformed(.malformedHost)
        }
        let (parts, host) = try Self.read(bytes)
        scheme = parts.scheme
        guard parts.query == nil, parts.fragment == nil else { throw .queryOrFragment }
        guard let host else {
            guard !parts.isWeb, parts.path.isEmpty else { throw .noHost }
            self.text = "\(scheme)://"
            self.host = nil
            port = nil
            path = []
            return
        }
        self.host = host.name
        port = host.effectivePort(scheme: scheme)
        guard !URLPath.climbs(parts.path) else { throw .dotSegment }
        // Remove all slashes at the end, so that reading the stored text again gives the same text.
        var path = Array(parts.path)
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        self.path = path
        let portText = host.port.map { ":\($0)" } ?? ""
        self.text = "\(scheme)://\(host.name)\(portText)\(String(decoding: path, as: UTF8.self))"
    }

    /// Returns whether `url` leads to the destination.
    ///
    /// Compares scheme, host and port as a whole. A link that climbs (`..`, escaped or not) is not below a
    /// destination's path.
    public func covers(_ url: DeepLinkURL) -> Bool {
        guard let parts = try? URLParts(Array(url.text.utf8)), parts.scheme == scheme else { return false }
        guard let host else { return true }
        guard let urlHost = try? parts.host(),
            urlHost.name == host, urlHost.effectivePort(scheme: scheme) == port
        else { return false }
        guard !path.isEmpty else { return true }
        guard parts.path.starts(with: path), !URLPath.climbs(parts.path) else { return false }
        return parts.path.count == path.count
            || parts.path[parts.path.startIndex + path.count] == UInt8(ascii: "/")
    }

    /// Reads a destination as a link, except that the path may be missing, and the host too.
    private static func read(_ bytes: [UInt8]) throws(DestinationError) -> (URLParts, URLHost?) {
        do throws(DeepLinkURLError) {
            let parts = try URLParts(bytes)
            try parts.checkScheme()
            guard parts.authority?.isEmpty != true else { return (parts, nil) }
            return (parts, try parts.host())
        } catch {
            throw .malformed(error)
        }
    }
}

/// The reason why a text names no destination.
///
/// The message says what to do.
public enum DestinationError: Error, Equatable, Sendable {
    case malformed(DeepLinkURLError)
    case noHost
    case queryOrFragment
    case dotSegment

    public var message: String {
        switch self {
        case .noHost, .malformed(.noHost):
            """
            A destination names its host, as in https://shop.example or myapp://promo; a scheme of the app's own may \
            stand alone, as in myapp://.
            """
        case .malformed(let error): error.message
        case .queryOrFragment:
            "A destination has no ? and no #; write the scheme, the host and at most a path."
        case .dotSegment: "A destination's path has no . or .. segments; write it in full."
        }
    }
}

extension DeepLinkURL {
    /// Returns whether the link leads to one of the destinations, or the list is empty.
    public func isAllowed(by destinations: [Destination]) -> Bool {
        destinations.isEmpty || destinations.contains { $0.covers(self) }
    }
}

extension App.Settings {
    /// Returns whether a visitor's click may lead to `url`: to one of ``destinations``, or anywhere if there
    /// are none.
    ///
    /// A stored destination that cannot be read allows nothing.
    public func allows(_ url: DeepLinkURL) -> Bool {
        destinations.isEmpty
            || destinations.contains { (try? Destination(parsing: $0))?.covers(url) ?? false }
    }

    /// Returns whether pages of `origin` may post clicks: one of ``allowedOrigins``, or any if there are
    /// none.
    public func allows(_ origin: Origin) -> Bool {
        allowedOrigins.isEmpty || allowedOrigins.contains { Origin($0) == origin }
    }
}
