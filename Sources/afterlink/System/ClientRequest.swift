/// A request of this program's own, as a browser or an app would send it: header fields and all.
package struct ClientRequest: Sendable {
    private let line: String
    let fields: [(name: String, value: String)]
    let body: String

    /// - Parameters:
    ///   - line: method and target.
    ///   - host: the field `Host`.
    ///   - fields: all others but `Connection`.
    ///   - body: empty for none; its length stands among the fields.
    init(_ line: String, host: String, _ fields: [(name: String, value: String)], body: String = "") {
        self.line = line
        self.fields = [("Host", host)] + fields + [("Connection", "close")]
        self.body = body
    }

    /// As it goes over the wire.
    var text: String {
        let lines = ["\(line) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// As it is shown: without the fields that say nothing, and with keys cut short.
    package var shown: String {
        let dull = ["Host", "Accept", "Accept-Encoding", "Sec-Fetch-Site", "Content-Length", "Connection"]
        let lines = fields.filter { !dull.contains($0.name) }.map { field in
            let isKey = field.name == "Authorization"
            return "> \(field.name): " + (isKey ? field.value.prefix(16) + "…" : field.value[...])
        }
        let content = body.isEmpty ? "" : "\n>\n" + JSONLayout.indented(body, by: "> ")
        return (["> \(line)"] + lines).joined(separator: "\n") + content
    }
}
