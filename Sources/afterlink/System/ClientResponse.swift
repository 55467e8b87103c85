/// An HTTP answer as this program's own server sends it: a status line, fields, and a body to the end.
struct ClientResponse {
    let status: Int
    /// The status line's text, such as `200 OK`.
    let statusText: String
    /// In order, names as received.
    let fields: [(name: String, value: String)]
    let body: String

    /// One without fields, which nobody sent.
    init(status: Int, body: String) {
        self.status = status
        statusText = String(status)
        fields = []
        self.body = body
    }

    /// Nil for what is no answer.
    init?(_ bytes: [UInt8]) {
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
}
