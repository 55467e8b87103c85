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

/// A status code of a final answer (RFC 9110 §15).
public struct Status: Sendable, Hashable {
    /// Three digits, from 200 to 599.
    public let code: Int

    /// A status by its code.
    ///
    /// - Precondition: 200 to 599; interim answers are the server's own business.
    public init(_ code: Int) {
        precondition((200...599).contains(code), "a final status code has three digits, from 200 on")
        self.code = code
    }

    public static let ok = Status(200)
    public static let created = Status(201)
    public static let accepted = Status(202)
    public static let noContent = Status(204)
    public static let movedPermanently = Status(301)
    public static let found = Status(302)
    public static let seeOther = Status(303)
    public static let notModified = Status(304)
    public static let temporaryRedirect = Status(307)
    public static let permanentRedirect = Status(308)
    public static let badRequest = Status(400)
    public static let unauthorized = Status(401)
    public static let forbidden = Status(403)
    public static let notFound = Status(404)
    public static let methodNotAllowed = Status(405)
    public static let notAcceptable = Status(406)
    public static let requestTimeout = Status(408)
    public static let conflict = Status(409)
    public static let gone = Status(410)
    public static let preconditionFailed = Status(412)
    public static let contentTooLarge = Status(413)
    public static let uriTooLong = Status(414)
    public static let unsupportedMediaType = Status(415)
    public static let expectationFailed = Status(417)
    public static let unprocessableContent = Status(422)
    public static let tooManyRequests = Status(429)
    public static let requestHeaderFieldsTooLarge = Status(431)
    public static let internalServerError = Status(500)
    public static let notImplemented = Status(501)
    public static let serviceUnavailable = Status(503)
    public static let httpVersionNotSupported = Status(505)

    /// The phrase of the registry, or an empty one: it may be empty (RFC 9112 §4).
    public var reasonPhrase: String {
        switch code {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        default: errorPhrase
        }
    }

    private var errorPhrase: String {
        switch code {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }

    /// Whether an answer of this status has content: 204 and 304 never do (RFC 9110 §6.4.1).
    public var allowsContent: Bool {
        code != 204 && code != 304
    }
}
