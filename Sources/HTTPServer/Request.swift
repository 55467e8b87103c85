public import Threads

/// A complete, well-formed request with its body.
///
/// The request owns its bytes, and may exist longer than its connection.
public struct Request: Sendable {
    public let method: Method

    public let version: Version

    /// The body, without chunked framing.
    public let body: [UInt8]

    public let peer: PeerAddress

    /// When the server read the first byte of this request.
    ///
    /// If the server read the byte before it had written the previous response, this is when it had written that
    /// response.
    public let firstByteAt: MonotonicTime

    /// Whether the request came over TLS to this server.
    public let isSecure: Bool

    private let head: RequestHead

    private let target: Target

    /// The path and the query, as ranges of the head's bytes.
    private struct Target {
        var path: Range<UInt32>
        var query: Range<UInt32>?
        var unwritten: UnwrittenPath?
    }

    /// A path that is not a range of the target's bytes.
    private enum UnwrittenPath: String {
        case root = "/"
        case asterisk = "*"
    }

    /// The range of the host and port that the request names; `nil` if it names no host.
    private let authority: Range<UInt32>?

    /// Creates a request from the bytes of its head and the result of parsing them.
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
        let unwritten: UnwrittenPath? = target.isAsterisk ? .asterisk : target.path.isEmpty ? .root : nil
        self.target = Target(path: target.path.narrowed, query: target.query?.narrowed, unwritten: unwritten)
        version = parsed.version
        (self.body, self.peer, self.firstByteAt, self.isSecure) = (body, peer, firstByteAt, isSecure)
        head = RequestHead(bytes: bytes, lines: parsed.lines)
        // RFC 9112 §3.2.2: the host of an absolute-form target replaces the Host field.
        authority = target.authority?.narrowed ?? parsed.framing.host
    }

    /// Creates a request without a connection, to call a handler without a socket.
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
        (self.method, self.version, self.body) = (method, version, body)
        (self.peer, self.firstByteAt, self.isSecure) = (peer, firstByteAt, isSecure)
        var head = RequestHead(fields)
        target = Target(path: head.append(path), query: query.map { head.append($0) })
        self.head = head
        authority = head.firstLine(named: "host").map { [head] in head.lines[$0].value }
    }

    /// The path as sent, with its percent-encoding and without the query.
    ///
    /// For an absolute-form target it is the path of the URL (RFC 9112 §3.2.2), and `/` if the URL has none. For
    /// OPTIONS it may be `*`.
    public var path: String { target.unwritten?.rawValue ?? head.string(target.path) }

    /// The part of the target after the first `?`, as sent; `nil` without a `?`.
    public var query: String? { target.query.map(head.string) }

    /// Passes the bytes of ``path`` to a closure, without creating a `String`.
    public func withPathBytes<Result>(_ read: (Span<UInt8>) -> Result) -> Result {
        guard let unwritten = target.unwritten else { return head.withBytes(target.path, read) }
        return read(unwritten.rawValue.utf8.span)
    }

    /// Passes the bytes of ``query`` to a closure, without creating a `String`; returns `nil` without a query.
    public func withQueryBytes<Result>(_ read: (Span<UInt8>) -> Result) -> Result? {
        target.query.map { head.withBytes($0, read) }
    }

    /// Returns whether the path, the query or the `?` between them, as sent, contains one of two bytes.
    public func targetHolds(_ first: UInt8, or second: UInt8) -> Bool {
        let end = target.query?.upperBound ?? target.path.upperBound
        return head.withBytes(target.path.lowerBound..<end) { bytes in
            ByteClass.run(without: first, or: second, in: bytes) < bytes.count
        }
    }

    /// The host that the request names, with the port if the request names one.
    ///
    /// It comes from an absolute-form target, otherwise from the Host field; `nil` for HTTP/1.0 without either.
    public var host: String? { authority.map(head.string) }

    /// Returns the value of the first field line of this name, without white space around it; `nil` without a line.
    ///
    /// The name may be in any case. Bytes of the value that are not UTF-8 become U+FFFD.
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

    /// Passes the bytes of the first value of this name to a closure, without creating a `String`.
    ///
    /// - Returns: the closure's result; `nil` without a field line of this name.
    public func withFieldBytes<Result>(_ name: String, _ read: (Span<UInt8>) -> Result) -> Result? {
        guard let index = head.firstLine(named: name) else { return nil }
        return head.withBytes(head.lines[index].value, read)
    }

    /// Works as ``withFieldBytes(_:_:)``, but also returns `nil` if several lines have this name.
    public func withOnlyFieldBytes<Result>(_ name: String, _ read: (Span<UInt8>) -> Result) -> Result? {
        guard let index = head.firstLine(named: name), head.firstLine(named: name, from: index + 1) == nil
        else { return nil }
        return head.withBytes(head.lines[index].value, read)
    }

    /// All field lines as received, in order.
    public var fieldLines: [FieldLine] {
        head.lines.map { FieldLine(name: head.string($0.name), value: head.string($0.value)) }
    }

    /// Passes the bytes of each field line, its name and its value, to a closure, in the order received.
    public func forEachFieldLine(_ read: (Span<UInt8>, Span<UInt8>) -> Void) {
        for line in head.lines {
            head.withBytes(line.name) { name in head.withBytes(line.value) { value in read(name, value) } }
        }
    }
}

extension Range<Int> {
    /// The same range in 32 bits, which suffice because a head is far shorter than 4 GiB.
    var narrowed: Range<UInt32> {
        UInt32(truncatingIfNeeded: lowerBound)..<UInt32(truncatingIfNeeded: upperBound)
    }
}

/// The request methods that the server passes to handlers (RFC 9110 §9).
///
/// The server answers any other method, also `CONNECT`, with 501. No handler of Afterlink supports `TRACE` or `QUERY`.
/// The server still passes them on, so that the handler's 405 can list the methods that it supports (RFC 9110
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
/// The server treats a higher minor version of HTTP/1 as HTTP/1.1, as RFC 9110 §2.5 requires.
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
