/// A request of our own to somebody else's server; it can only go over TLS.
public struct HTTPSRequest: Sendable {
    /// A name or an address, without the brackets of IPv6.
    public let host: String
    public let port: UInt16
    public let method: Method
    /// Path and query.
    public let target: String
    private let fields: [FieldLine]
    private let body: [UInt8]

    /// Nil for what could not be sent without meaning something else: a blank, a control byte, a colon in a name.
    ///
    /// - Parameters:
    ///   - host: a name, an IPv4 address, or an IPv6 address with or without brackets.
    ///   - port: where its server listens.
    ///   - method: GET, HEAD or POST mostly.
    ///   - target: the path from its slash on, with the query.
    ///   - fields: those besides `Host`, `Connection`, `Accept-Encoding` and `Content-Length`.
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

    /// As it goes over the wire: one request, after which the server is to close.
    ///
    /// No content coding is asked for: the limit is for what is read, not for what could be made of it.
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

/// What somebody else's server answered.
public struct HTTPSResponse: Sendable, Equatable {
    /// 200 to 599; a redirect is an answer as any other, and none is followed.
    public let status: Int
    /// As received, in order.
    public let fields: [FieldLine]
    public let body: [UInt8]

    public init(status: Int, fields: [FieldLine], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The value of the first field line of this name, in letters of either case.
    public func field(_ name: String) -> String? {
        fields.first { ByteClass.equals(name.lowercased(), $0.name) }?.value
    }
}
