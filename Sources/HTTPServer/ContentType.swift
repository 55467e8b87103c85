/// A media type as written into `Content-Type`, with a charset on text types only.
public struct ContentType: Sendable, Hashable {
    public let text: String

    /// A media type by its text, such as `image/png`.
    public init(_ text: String) {
        self.text = text
    }

    public static let json = ContentType("application/json")
    public static let plainText = ContentType("text/plain; charset=utf-8")
    public static let html = ContentType("text/html; charset=utf-8")
    public static let css = ContentType("text/css; charset=utf-8")
    public static let javaScript = ContentType("text/javascript; charset=utf-8")
    public static let csv = ContentType("text/csv; charset=utf-8")
    public static let svg = ContentType("image/svg+xml")
    public static let png = ContentType("image/png")
    public static let octets = ContentType("application/octet-stream")
}
