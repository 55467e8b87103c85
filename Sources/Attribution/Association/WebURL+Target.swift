extension WebURL {
    /// The port, where one is written.
    public var port: UInt16? { (try? parts?.host())?.port }

    /// Path and query, as a request names them; at least `/`.
    public var target: String {
        guard let parts else { return "/" }
        let path = parts.path.isEmpty ? "/" : String(decoding: parts.path, as: UTF8.self)
        return path + (parts.query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? "")
    }

    private var parts: URLParts? { try? URLParts(Array(text.utf8)) }
}
