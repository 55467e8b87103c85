internal import Threads

/// Sends requests to servers of other operators, and trusts neither their names nor their responses.
///
/// The client requires TLS 1.2 or later and validates the certificate, except for a request with `isPlain`. It checks
/// all addresses of the name and connects to one of them, so that a second look-up of the name cannot lead to another
/// address. It follows no redirect. It limits the duration of a call and the length of a response.
///
/// A call blocks its thread, so an event loop must not make one. There are three reasons for blocking. The system's
/// look-up of a name blocks and cannot be cancelled, so that it needs a thread anyway. A handshake computes for
/// milliseconds, in which an event loop's connections would wait. And calls are rare. The rules on addresses and
/// redirects follow OWASP ASVS 5.0, 1.3.6 (server-side request forgery).
public struct HTTPSClient: Sendable {
    /// The limits of one call.
    public struct Bounds: Sendable {
        /// The maximum duration of the whole call.
        public var time: Duration
        /// The maximum length of a response's body in bytes.
        public var bodyByteCount: Int
        /// Whether a call returns the first ``bodyByteCount`` bytes of a longer body, instead of throwing `tooLarge`.
        public var cutsLongBodies = false

        public init(
            time: Duration = .seconds(5),
            bodyByteCount: Int = 64 * 1024,
            cutsLongBodies: Bool = false
        ) {
            self.time = time
            self.bodyByteCount = bodyByteCount
            self.cutsLongBodies = cutsLongBodies
        }
    }

    /// Returns the addresses of a host; may block.
    public typealias Lookup = @Sendable (_ host: String, _ port: UInt16) -> [PeerAddress]

    public var bounds: Bounds
    private let roots: String?
    private let permits: @Sendable (PeerAddress) -> Bool
    private let lookup: Lookup

    /// - Parameters:
    ///   - bounds: the limits of one call.
    ///   - roots: a file of certificate authorities in PEM; nil means the authorities that this machine trusts.
    ///   - lookup: returns the addresses of a name; by default, the system's look-up.
    ///   - permits: returns whether the client may connect to an address.
    public init(
        bounds: Bounds = Bounds(),
        roots: String? = nil,
        lookup: @escaping Lookup = { HostLookup.addresses(of: $0, port: $1) },
        permits: @escaping @Sendable (PeerAddress) -> Bool
    ) {
        (self.bounds, self.roots, self.lookup, self.permits) = (bounds, roots, lookup, permits)
    }

    /// Sends a request and waits for the whole response; throws if there is none within the bounds.
    public func send(_ request: HTTPSRequest) throws(HTTPSFailure) -> HTTPSResponse {
        let limit = MonotonicTime.now().advanced(by: bounds.time)
        let addresses = try BoundedLookup.addresses(of: request.host, request.port, until: limit, by: lookup)
        guard !addresses.isEmpty else { throw .unknownHost }
        // If one address of the name is not permitted, do not connect to its other addresses either.
        guard addresses.allSatisfy(permits) else { throw .addressRefused }
        let socket = try ClientSocket(toOneOf: addresses, until: limit)
        var parser = HTTPSResponseParser(
            isHead: request.method == .head,
            bodyLimit: bounds.bodyByteCount,
            cutsLongBody: bounds.cutsLongBodies
        )
        guard !request.isPlain else { return try exchangePlain(request, socket, limit, &parser) }
        return try exchange(request, socket, limit, &parser)
    }

    private func exchangePlain(
        _ request: HTTPSRequest,
        _ socket: borrowing ClientSocket,
        _ limit: MonotonicTime,
        _ parser: inout HTTPSResponseParser
    ) throws(HTTPSFailure) -> HTTPSResponse {
        try socket.send(request.bytes, until: limit, .answer)
        while true {
            let received = try socket.receive(until: limit, .answer)
            // Without TLS, the end of the connection ends a body without a length.
            guard !received.isEmpty else { return try parser.end(isClean: true) }
            if let answer = try parser.receive(received) { return answer }
        }
    }

    private func exchange(
        _ request: HTTPSRequest,
        _ socket: borrowing ClientSocket,
        _ limit: MonotonicTime,
        _ parser: inout HTTPSResponseParser
    ) throws(HTTPSFailure) -> HTTPSResponse {
        let tls: TLSClient
        do throws(TLSError) {
            tls = try TLSClient(sending: request.bytes, verifying: request.host, roots: roots)
        } catch { throw .resources }
        var received: [UInt8] = []
        while true {
            let (plain, output) = tls.receive(received)
            let stage: HTTPSFailure.Stage = tls.isEstablished ? .answer : .handshake
            if let answer = try parser.receive(plain) { return answer }
            if tls.hasEnded, !tls.hasEndedWell {
                // Send the TLS alert that names the reason; the call fails in any case.
                _ = try? socket.send(output, until: limit, stage)
                if let problem = tls.certificateProblem { throw .certificate(problem) }
                throw plain.isEmpty && !parser.hasBegun ? .tls : .endedEarly
            }
            if tls.hasEndedWell { return try parser.end(isClean: true) }
            try socket.send(output, until: limit, stage)
            received = try socket.receive(until: limit, stage)
            guard !received.isEmpty else {
                guard tls.isEstablished else { throw .tls }
                return try parser.end(isClean: false)
            }
        }
    }
}

/// An outgoing request, which the client sends over TLS unless `isPlain` is true.
public struct HTTPSRequest: Sendable {
    /// A name or an address; an IPv6 address has no brackets.
    public let host: String
    public let port: UInt16
    public let method: Method
    /// The path and the query.
    public let target: String
    /// Whether to send it without TLS, to a receiver inside the operator's network.
    public var isPlain = false
    private let fields: [FieldLine]
    private let body: [UInt8]

    /// Creates a request; nil if a part is invalid, such as a field value with a line end.
    ///
    /// The host must be an address, or a name of 1 to 253 bytes that RFC 3986 calls `unreserved` or `sub-delims`. The
    /// port must not be 0.
    ///
    /// - Parameters:
    ///   - host: a name, an IPv4 address, or an IPv6 address with or without brackets.
    ///   - port: the server's port.
    ///   - method: usually GET, HEAD or POST.
    ///   - target: the path from its slash, with the query.
    ///   - fields: further field lines; the client adds `Host`, `Connection`, `Accept-Encoding` and `Content-Length`.
    ///   - body: empty for none.
    public init?(
        host: String,
        port: UInt16 = 443,
        _ method: Method,
        _ target: String,
        fields: [FieldLine] = [],
        body: [UInt8] = []
    ) {
        let name = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        let isAddress = ListenAddress("[\(name)]:1") != nil
        guard !name.isEmpty, name.utf8.count <= 253, port > 0,
            isAddress || name.utf8.allSatisfy({ ByteClass.isHostName($0) && $0 != UInt8(ascii: "%") }),
            target.utf8.first == UInt8(ascii: "/"), target.utf8.allSatisfy(ByteClass.isTarget),
            fields.allSatisfy(ResponseWriter.isWritable)
        else { return nil }
        self.host = name
        (self.port, self.method, self.target) = (port, method, target)
        (self.fields, self.body) = (fields, body)
    }

    /// The bytes of the request, which asks the server to close the connection after the response.
    ///
    /// The request accepts no content coding: the limit is for received bytes, and a decoded body could be far longer.
    var bytes: [UInt8] {
        let name = host.utf8.contains(ByteClass.colon) ? "[\(host)]" : host
        var text = "\(method.rawValue) \(target) HTTP/1.1\r\n"
        text += "Host: \(name)\(port == (isPlain ? 80 : 443) ? "" : ":\(port)")\r\n"
        text += "Connection: close\r\nAccept-Encoding: identity\r\n"
        if !body.isEmpty || method == .post { text += "Content-Length: \(body.count)\r\n" }
        for line in fields { text += "\(line.name): \(line.value)\r\n" }
        return Array((text + "\r\n").utf8) + body
    }
}

/// The response of another server.
public struct HTTPSResponse: Sendable, Equatable {
    /// The status code, 200 to 599.
    ///
    /// The client returns a redirect like any other response, and does not follow it.
    public let status: Int
    /// The field lines as received, in order.
    public let fields: [FieldLine]
    public let body: [UInt8]

    /// Returns the value of the first field line of this name, in letters of either case; nil without such a line.
    public func field(_ name: String) -> String? {
        fields.first { ByteClass.equals(name.lowercased(), $0.name) }?.value
    }
}

/// The reason why an outgoing request failed.
public enum HTTPSFailure: Error, Equatable, Sendable {
    /// The system found no address of the host.
    case unknownHost
    /// One of the host's addresses is not permitted, so that the client connected to none.
    case addressRefused
    /// None of the host's addresses accepted a connection; the last one refused it or was unreachable.
    case notReached
    /// The call took too long; `stage` names the step.
    case timedOut(stage: Stage)
    /// The certificate is not for the host, not from a trusted authority, or not valid now; the text is OpenSSL's.
    case certificate(String)
    /// TLS failed for another reason, such as a server without TLS.
    case tls
    /// The bytes are not an HTTP/1.0 or HTTP/1.1 response; the text is one sentence with the reason.
    case malformed(String)
    /// The response's body is longer than `Bounds.bodyByteCount`.
    case tooLarge
    /// The connection ended before the response did.
    case endedEarly
    /// This machine could not make the call.
    ///
    /// Too many look-ups run at once, no thread, descriptor or memory is left, or the file `roots` cannot be used.
    case resources

    public enum Stage: String, Sendable { case name, connection, handshake, answer }

    /// One sentence without its full stop.
    public var message: String {
        switch self {
        case .unknownHost: "the name is unknown: it has no address"
        case .addressRefused:
            "the name leads to an address inside a network, such as 127.0.0.1 or 10.0.0.1, which is not permitted"
        case .notReached: "no server accepts the connection: it is refused or unreachable"
        case .timedOut(.name): "the look-up of the name took too long"
        case .timedOut(.connection): "connecting took too long"
        case .timedOut(.handshake): "the TLS handshake took too long"
        case .timedOut(.answer): "the response took too long"
        case .certificate(let reason): "the certificate is refused: \(reason)"
        case .tls: "TLS failed: the server has no TLS on this port, or none that is safe (1.2 or later)"
        case .malformed(let reason): "the response is not HTTP/1.1: \(reason)"
        case .tooLarge: "the response is too long"
        case .endedEarly: "the connection ended before the response did"
        case .resources: "this machine makes too many calls at once, or has no memory or descriptor left"
        }
    }
}
