public import Threads

/// A complete, well-formed request with its body.
///
/// The request owns its bytes and may outlive the connection.
public struct Request: Sendable {
    public let method: Method

    public let version: Version

    /// The body, without its chunked framing if it had one.
    public let body: [UInt8]

    public let peer: PeerAddress

    /// When the first byte of this request was read.
    public let firstByteAt: MonotonicTime

    /// Whether the request came over TLS to this server.
    public let isSecure: Bool

    private let head: RequestHead

    private let target: Target

    /// The ranges of path and query in the head's bytes.
    private struct Target {
        var path: Range<UInt32>
        var query: Range<UInt32>?
        var unwritten: UnwrittenPath?
    }

    /// A path that the target does not contain.
    private enum UnwrittenPath: String {
        case root = "/"
        case asterisk = "*"
    }

    /// The range of the authority that the request was sent to.
    private let authority: Range<UInt32>?

    /// Creates a request from its head's bytes and what the parser found in them.
    init(
        head parsed: HeadParser.Head,
        bytes: [UInt8],
        body: [UInt8],
        peer: PeerAddress,
        firstByteAt: MonotonicTime,
        isSecure: Bool
    ) {
        let target = parsed.target
        method = parsed.method
        self.target = Target(
            path: target.path.narrowed,
            query: target.query?.narrowed,
            unwritten: target.isAsterisk ? .asterisk : target.path.isEmpty ? .root : nil
        )
        version = parsed.version
        self.body = body
        self.peer = peer
        self.firstByteAt = firstByteAt
        self.isSecure = isSecure
        head = RequestHead(bytes: bytes, lines: parsed.lines)
        // RFC 9112 §3.2.2: the host of an absolute-form target counts, and the Host field does not.
        authority = target.authority?.narrowed ?? parsed.framing.hostValue
    }

    /// Creates a request without a connection, for calling handlers without a socket.
    public init(
        _ method: Method,
        path: String,
        query: String? = nil,
        version: Version = .http11,
        fields: [FieldLine] = [],
        body: [UInt8] = [],
        peer: PeerAddress = PeerAddress(ipv4: 0x7F00_0001, port: 1),
        firstByteAt: MonotonicTime = .now(),
        isSecure: Bool = false
    ) {
        self.method = method
        self.version = version
        self.body = body
        self.peer = peer
        self.firstByteAt = firstByteAt
        self.isSecure = isSecure
        var head = RequestHead(fields)
        target = Target(path: head.append(path), query: query.map { head.append($0) })
        self.head = head
        authority = head.firstLine(named: "host").map { [head] in head.lines[$0].value }
    }

    /// The path as sent, percent-encoding included, without the query.
    ///
    /// An absolute-form target is reduced to its path (RFC 9112 §3.2.2), an empty path to `/`; `*` is
    /// only seen with OPTIONS.
    public var path: String { target.unwritten?.rawValue ?? head.string(target.path) }

    /// The part after the first `?` as sent; `nil` without one.
    public var query: String? { target.query.map(head.string) }

    /// Reads the bytes of ``path`` in place, without making a `String`.
    public func withPathBytes<Result>(_ read: (Span<UInt8>) -> Result) -> Result {
        guard let unwritten = target.unwritten else { return head.withBytes(target.path, read) }
        return read(unwritten.rawValue.utf8.span)
    }

    /// Reads the bytes of ``query`` in place, without making a `String`; `nil` without a query.
    public func withQueryBytes<Result>(_ read: (Span<UInt8>) -> Result) -> Result? {
        target.query.map { head.withBytes($0, read) }
    }

    /// Whether path or query contain one of two bytes, as sent.
    public func targetHolds(_ first: UInt8, or second: UInt8) -> Bool {
        let end = target.query?.upperBound ?? target.path.upperBound
        return head.withBytes(target.path.lowerBound..<end) { bytes in
            ByteClass.run(without: first, or: second, in: bytes) < bytes.count
        }
    }

    /// The host that the request was sent to, with its port if one was named.
    ///
    /// It comes from an absolute-form target, else from the Host field; `nil` for HTTP/1.0 without either.
    public var host: String? { authority.map(head.string) }

    /// Returns the value of the first field line of this name, without white space around it.
    ///
    /// Bytes that are not UTF-8 become U+FFFD. The case of the name does not matter.
    public func field(_ name: String) -> String? {
        head.firstLine(named: name).map { head.string(head.lines[$0].value) }
    }

    /// Returns the values of all field lines of this name, in the order received.
    public func fields(_ name: String) -> [String] {
        var values: [String] = []
        var next = head.firstLine(named: name)
        while let index = next {
            values.append(head.string(head.lines[index].value))
            next = head.firstLine(named: name, from: index + 1)
        }
        return values
    }

    /// Returns whether there is a field line of this name.
    public func hasField(_ name: String) -> Bool { head.firstLine(named: name) != nil }

    /// Reads the bytes of the first field line of this name in place, without making a `String`.
    public func withFieldBytes<Result>(_ name: String, _ read: (Span<UInt8>) -> Result) -> Result? {
        guard let index = head.firstLine(named: name) else { return nil }
        return head.withBytes(head.lines[index].value, read)
    }

    /// Reads as ``withFieldBytes(_:_:)`` does, but also returns `nil` if several lines have this name: none of them
    /// is better than another.
    public func withOnlyFieldBytes<Result>(_ name: String, _ read: (Span<UInt8>) -> Result) -> Result? {
        guard let index = head.firstLine(named: name), head.firstLine(named: name, from: index + 1) == nil
        else { return nil }
        return head.withBytes(head.lines[index].value, read)
    }

    /// All field lines as received, in order.
    public var fieldLines: [FieldLine] {
        head.lines.map { FieldLine(name: head.string($0.name), value: head.string($0.value)) }
    }

    /// Reads all field lines in place, byte for byte as received, in order: name, then value.
    public func forEachFieldLine(_ read: (Span<UInt8>, Span<UInt8>) -> Void) {
        for line in head.lines {
            head.withBytes(line.name) { name in head.withBytes(line.value) { value in read(name, value) } }
        }
    }
}

extension Range<Int> {
    /// The same range in 32 bits: a head is far shorter than 4 GiB.
    var narrowed: Range<UInt32> {
        UInt32(truncatingIfNeeded: lowerBound)..<UInt32(truncatingIfNeeded: upperBound)
    }
}

/// The request methods that the server passes to handlers (RFC 9110 §9).
///
/// Every other token, `CONNECT` included, gets 501 before a handler sees it. The server passes `TRACE` and `QUERY` on
/// although no handler takes them, so that a handler can answer 405 with the methods that it takes (RFC 9110
/// §15.5.6). Methods are case-sensitive: `get` is unknown.
public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"
    case trace = "TRACE"
    /// Source: the HTTP working group's "The HTTP QUERY Method".
    case query = "QUERY"
}

/// The protocol versions that this server speaks (RFC 9112 §2.3).
///
/// A higher minor version of HTTP/1 is read as HTTP/1.1, as RFC 9110 §2.5 asks.
public enum Version: Sendable, Hashable {
    case http10
    case http11
}

/// One field line of a header section: a name and a value (RFC 9110 §5).
public struct FieldLine: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
