/// The end of a response's delivery, as far as the server can see it.
public enum Delivery: Sendable, Hashable {
    /// The peer's kernel acknowledged every byte, or the server saw no sign of a failure.
    case delivered

    /// The connection broke before the peer had acknowledged the whole response.
    ///
    /// A peer may read a response and reset the connection before it sends its acknowledgement, which Linux delays by
    /// up to 40 ms. That counts as failed: a reset says how far the peer had received, but the kernel drops that
    /// unread, and its counts (acknowledged, in flight, queued) stay as if nothing had arrived. A close without a
    /// reset is an acknowledgement.
    case failed
}

/// A response.
///
/// The server adds `Date`, `Content-Length`, `Content-Type`, `X-Content-Type-Options` and `Connection` itself, and
/// leaves out lines of these names among `fields`. A response to HEAD has the length of `body` and no body; 204 and
/// 304 have neither.
public struct Response {
    public var status: Status

    /// Field lines in addition to those that the server adds, written in this order.
    ///
    /// A line whose name is not a token, or whose value contains CR, LF, NUL or another control byte, traps in debug
    /// builds and is left out in release builds.
    public var fields: [FieldLine]

    public var body: [UInt8]

    /// The body's media type, or `nil` for none; not written with 204 and 304.
    public var contentType: ContentType?

    /// Whether the server sends `Connection: close` and closes after the response.
    public var closesConnection = false

    /// Called once, on the loop, when the delivery of the response has ended.
    ///
    /// Only a failure that the server *saw* is `failed`: a peer that acknowledged everything and then reset the
    /// connection was served. A response that leaves this `nil` costs nothing.
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

    /// Creates a response with text, in UTF-8.
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

    /// Creates a media type from its text, such as `image/png`.
    public init(_ text: String) { self.text = text }

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

/// The status code of a final response (RFC 9110 §15).
public struct Status: Sendable, Hashable {
    /// Three digits, from 200 to 599.
    public let code: Int

    /// Creates a status from its code.
    ///
    /// - Precondition: 200 to 599; only the server itself sends interim responses.
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

    /// The registered phrase, or an empty one, as RFC 9112 §4 allows.
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

    /// Whether a response of this status has content: 204 and 304 never do (RFC 9110 §6.4.1).
    public var allowsContent: Bool { code != 204 && code != 304 }
}
