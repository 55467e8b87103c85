internal import Attribution
internal import Crypto
internal import HTTPServer

/// A strong validator, derived from the content (RFC 9110 §8.8.3).
struct EntityTag {
    /// The tag with its quotation marks.
    let text: String

    /// Creates the tag of a body: the first half of its SHA-256.
    init(of body: [UInt8]) { text = "\"\(Hexadecimal.text(of: SHA256.digest(of: body).bytes.prefix(16)))\"" }

    /// Returns whether a request's `If-None-Match` is `*` or names the tag, strong or weak.
    ///
    /// If so, the client has the body already. A `*` in a list means nothing (RFC 9110 §13.1.2).
    func isNamed(by request: Request) -> Bool {
        let lines = request.fields("if-none-match")
        guard lines.map(\.trimmed) != ["*"] else { return true }
        return lines.contains { line in
            line.split(separator: ",").contains { candidate in
                let tag = candidate.drop { $0 == " " || $0 == "\t" }
                let name = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
                return name.prefix(while: { $0 != " " && $0 != "\t" }) == text
            }
        }
    }
}

extension Response {
    /// Creates a response with a body, or 304 for a client that has the body already.
    ///
    /// Computes the tag if `tag` is nil. Caches may store the response for an hour, unless `cacheControl` differs.
    init(
        _ body: [UInt8],
        tagged tag: EntityTag? = nil,
        as contentType: ContentType,
        cacheControl: String = "public, max-age=3600",
        for request: Request
    ) {
        let tag = tag ?? EntityTag(of: body)
        let caching = FieldLine(name: "Cache-Control", value: cacheControl)
        let fields = [FieldLine(name: "ETag", value: tag.text), caching]
        guard !tag.isNamed(by: request) else {
            self.init(.notModified, fields: fields)
            return
        }
        self.init(.ok, fields: fields, contentType: contentType, body: body)
    }
}
