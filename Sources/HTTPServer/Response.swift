/// What became of an answer, as far as this end can see.
public enum Delivery: Sendable, Hashable {
    /// The peer's kernel acknowledged every byte, or nothing spoke against it.
    case delivered

    /// The connection was seen to break before the peer had acknowledged the whole answer.
    ///
    /// A peer that reads an answer and resets the connection before its acknowledgement is out, which Linux
    /// holds back for 40 ms, is taken for one that was not served: a reset says how far the peer had
    /// received, but the kernel drops that unread (and every count of it, acknowledged, in flight and in the
    /// queue, stays as if nothing had come). Who closes without a reset acknowledges by it.
    case failed
}

/// An answer.
///
/// The server adds `Date`, `Content-Length`, `Content-Type`, `X-Content-Type-Options` and `Connection`
/// itself; a line of that name among `fields` is left out. An answer to HEAD carries the length of
/// `body` and no body; 204 and 304 carry neither.
public struct Response {
    public var status: Status

    /// Field lines besides those that the server adds, written in this order.
    ///
    /// A line whose name is no token, or whose value holds CR, LF, NUL or another control byte, traps in
    /// debug builds and is left out in release builds.
    public var fields: [FieldLine]

    public var body: [UInt8]

    /// The body's media type, or `nil` for none; not written with 204 and 304.
    public var contentType: ContentType?

    /// Says `Connection: close` and closes once the answer is out.
    public var closesConnection = false

    /// Told once, on the loop: how the answer's delivery ended.
    ///
    /// Only what was *seen* to fail is `failed`; a peer that acknowledged everything and reset the
    /// connection then was served. Answers that leave this `nil` pay nothing for it.
    public var onDelivery: ((Delivery) -> Void)?

    public init(
        _ status: Status,
        fields: [FieldLine] = [],
        contentType: ContentType? = nil,
        body: [UInt8] = []
    ) {
        self.status = status
        self.fields = fields
        self.contentType = contentType
        self.body = body
    }

    /// An answer with text, in UTF-8.
    public init(
        _ status: Status,
        fields: [FieldLine] = [],
        contentType: ContentType = .plainText,
        text: String
    ) {
        self.init(status, fields: fields, contentType: contentType, body: Array(text.utf8))
    }
}
