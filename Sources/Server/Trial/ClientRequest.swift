/// An HTTP request as a browser or an app sends it, with all header fields.
public struct ClientRequest: Sendable {
    /// The method and the target.
    public let line: String
    public let fields: [(name: String, value: String)]
    public let body: String

    /// Creates a request that closes its connection.
    ///
    /// - Parameters:
    ///   - line: method and target.
    ///   - host: the field `Host`.
    ///   - fields: all others but `Connection`.
    ///   - body: empty for none; `Content-Length` is one of `fields` otherwise.
    public init(_ line: String, host: String, _ fields: [(name: String, value: String)], body: String = "") {
        self.line = line
        self.fields = [("Host", host)] + fields + [("Connection", "close")]
        self.body = body
    }

    /// The bytes on the wire, as text.
    public var text: String {
        let lines = ["\(line) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
