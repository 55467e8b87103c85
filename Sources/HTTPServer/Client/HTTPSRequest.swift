/// An outgoing request to a server of others; it always goes over TLS.
public struct HTTPSRequest: Sendable {
    /// A name or an address, without the brackets of IPv6.
    public let host: String
    public let port: UInt16
    public let method: Method
    /// Path and query.
    public let target: String
    private let fields: [FieldLine]
    private let body: [UInt8]

    /// Creates a request; nil if a part contains bytes that would change its meaning: a blank, a control byte, a
    /// colon in a name.
    ///
    /// - Parameters:
    ///   - host: a name, an IPv4 address, or an IPv6 address with or without brackets.
    ///   - port: the server's port.
    ///   - method: usually GET, HEAD or POST.
    ///   - target: the path from its slash, with the query.
    ///   - fields: field lines in addition to `Host`, `Connection`, `Accept-Encoding` and `Content-Length`.
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
            fields.allSatisfy(Self.isSendable)
        else { return nil }
        self.host = name
        self.port = port
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    private static func isSendable(_ line: FieldLine) -> Bool {
        !line.name.isEmpty && line.name.utf8.allSatisfy(ByteClass.isToken)
            && line.value.utf8.allSatisfy(ByteClass.isFieldValue)
    }

    /// The bytes on the wire: one request, after which the server is asked to close.
    ///
    /// It accepts no content coding: the limit is for the bytes that are read, and a decoded body could be far
    /// longer.
    var bytes: [UInt8] {
        let name = host.utf8.contains(ByteClass.colon) ? "[\(host)]" : host
        var text = "\(method.rawValue) \(target) HTTP/1.1\r\n"
        text += "Host: \(name)\(port == 443 ? "" : ":\(port)")\r\n"
        text += "Connection: close\r\nAccept-Encoding: identity\r\n"
        if !body.isEmpty || method == .post { text += "Content-Length: \(body.count)\r\n" }
        for line in fields { text += "\(line.name): \(line.value)\r\n" }
        return Array((text + "\r\n").utf8) + body
    }
}

/// The response of a server of others.
public struct HTTPSResponse: Sendable, Equatable {
    /// 200 to 599.
    ///
    /// A redirect is returned like any other response; the client follows none.
    public let status: Int
    /// As received, in order.
    public let fields: [FieldLine]
    public let body: [UInt8]

    public init(status: Int, fields: [FieldLine], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// Returns the value of the first field line of this name; the case of letters does not matter.
    public func field(_ name: String) -> String? {
        fields.first { ByteClass.equals(name.lowercased(), $0.name) }?.value
    }
}

/// Why an outgoing request got no response.
public enum HTTPSFailure: Error, Equatable, Sendable {
    /// The system found no address of the host.
    case unknownHost
    /// One of the host's addresses is not permitted, so that the client connected to none.
    case addressRefused
    /// None of the host's addresses accepted a connection.
    case notReached
    /// The call took too long; `stage` names the step.
    case timedOut(stage: Stage)
    /// The certificate is not for the host, not from a trusted authority, or not valid now; in OpenSSL's words.
    case certificate(String)
    /// TLS failed for another reason, such as a server without TLS.
    case tls
    /// The bytes are not an HTTP/1.1 response; one sentence says why.
    case malformed(String)
    /// The body is longer than the limit.
    case tooLarge
    /// The connection ended before the response did.
    case endedEarly
    /// This machine could not call: too many calls at once, no descriptor, or no memory.
    case resources

    public enum Stage: String, Sendable {
        case name, connection, handshake, answer
    }

    /// One sentence without its full stop, which names nothing but the called host.
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
        case .resources: "this machine makes too many calls at once"
        }
    }
}
