/// An HTTP response as Afterlink's server sends it: a status line, header fields, and a body up to the end.
public struct ClientResponse {
    public let status: Int
    /// The status line's text, such as `200 OK`.
    public let statusText: String
    /// In the order received, with the names as received.
    public let fields: [(name: String, value: String)]
    public let body: String

    /// Creates a response without header fields.
    public init(status: Int, body: String) {
        self.status = status
        statusText = String(status)
        fields = []
        self.body = body
    }

    /// Reads a whole response; nil if the bytes are none.
    public init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        // CR LF is one Character in Swift: the blank line between head and body is two of them.
        guard let blank = text.firstRange(of: "\r\n\r\n") else { return nil }
        let lines = text[..<blank.lowerBound].split(separator: "\r\n")
        guard let first = lines.first, first.hasPrefix("HTTP/1.1 "),
            let status = Int(first.dropFirst(9).prefix(3))
        else { return nil }
        self.status = status
        statusText = String(first.dropFirst(9))
        fields = lines.dropFirst().compactMap { line in
            line.firstIndex(of: ":").map { colon in
                (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
            }
        }
        body = String(text[blank.upperBound...])
    }

    /// The body as a JSON object; nil if it is none.
    public var json: JSONObject? { (try? JSONValue(parsing: Array(body.utf8)))?.object }
}
