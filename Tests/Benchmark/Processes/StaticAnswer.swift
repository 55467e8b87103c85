import Support

/// An answer of the server that nginx is to repeat.
struct StaticAnswer {
    let contentType: String
    /// Without those that nginx writes by itself.
    let fields: [(name: String, value: String)]
    let body: String

    private static let writtenByNginx: Set = [
        "date", "content-length", "content-type", "server", "connection",
    ]

    init(_ answer: RawClient.Answer) {
        contentType = answer.field("content-type") ?? "text/plain"
        body = answer.body
        fields = answer.fields.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, !Self.writtenByNginx.contains(parts[0].lowercased()) else { return nil }
            return (String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
    }
}
