/// Whether a response reached its peer, as far as the server can see.
public enum Delivery: Sendable, Hashable {
    /// The peer's kernel acknowledged every byte, or the server saw no sign of a failure.
    case delivered

    /// The connection broke before the peer had acknowledged the whole response.
    ///
    /// A peer may read a response and reset the connection before it acknowledges the bytes; Linux delays an
    /// acknowledgement by up to 40 ms. The response then counts as failed. A TCP reset states which bytes the peer had
    /// received. But the kernel ignores that number, and still counts the bytes as not acknowledged. A close without a
    /// reset acknowledges all bytes.
    case failed
}

/// The body of a response whose length is unknown; only the loop's thread uses it.
///
/// Over HTTP/1.1 the server sends each piece as a chunk, and the end of a whole body as the last chunk. Over HTTP/1.0 it
/// sends the pieces and closes. If the body is cut off, the server sends no last chunk over HTTP/1.1, and
/// resets the connection over HTTP/1.0.
public protocol ResponseStream: AnyObject {
    /// Makes the next piece of the body.
    ///
    /// The server calls it when the socket has taken all earlier bytes. An empty piece sends nothing.
    ///
    /// - Parameter count: the maximum number of bytes.
    /// - Returns: the piece; `nil` at the end of the body.
    /// - Throws: an error that cuts the body off.
    func next(atMost count: Int) async throws -> [UInt8]?

    /// Called if the server begins to stop, or the peer ends its side, during the stream.
    ///
    /// A call of `next` that waits must then return soon. A peer that had ended its side before the stream started
    /// still gets the whole stream.
    func interrupt()

    /// Called once, when the server needs no more pieces; for HEAD, it needs none.
    func end()
}

extension ResponseStream {
    public func interrupt() {}
    public func end() {}
}

/// A response to a request.
///
/// The server writes `Date`, `Content-Length`, `Content-Type`, `X-Content-Type-Options` and `Connection` itself. It
/// leaves out lines of these names, and of the name `Transfer-Encoding`, in `fields`. A response to HEAD contains
/// the length of `body`, but not its bytes. A response with the status 204 or 304 contains no length and no body. A
/// response with a `stream` contains no length.
public struct Response {
    public var status: Status

    /// Further field lines, in the order in which the server writes them.
    ///
    /// A name must be a token, and a value must not contain a control byte other than a tab. Any other line traps in
    /// debug builds, and is left out in release builds.
    public var fields: [FieldLine]

    public var body: [UInt8]

    /// A body of unknown length, which the server pulls instead of sending `body`; `nil` for none.
    public var stream: (any ResponseStream)?

    /// The body's media type; `nil` for none.
    public var contentType: ContentType?

    /// Whether the server sends `Connection: close` and closes after the response.
    public var closesConnection = false

    /// Called once, on the loop's thread, when the server knows or assumes whether the response was delivered.
    ///
    /// The server reports `failed` only if it saw a failure. A peer that acknowledged everything and then reset the
    /// connection got its response. Leave the property `nil` if no code needs the result, because the server spends
    /// time on watching a delivery. The server ignores the property if the response has a `stream`.
    public var onDelivery: ((Delivery) -> Void)?

    public init(
        _ status: Status,
        fields: [FieldLine] = [],
        contentType: ContentType? = nil,
        body: [UInt8] = []
    ) {
        (self.status, self.fields, self.contentType, self.body) = (status, fields, contentType, body)
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

/// A media type, as the server writes it into `Content-Type`; of the constants, only text types have a charset.
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
}

/// The status code of a final response (RFC 9110 §15).
public struct Status: Sendable, Hashable {
    /// Three digits, from 200 to 599.
    public let code: Int

    /// Creates a status from its code.
    ///
    /// - Precondition: the code is 200 to 599; only the server itself sends interim responses.
    public init(_ code: Int) {
        precondition((200...599).contains(code), "a final status code is 200 to 599")
        self.code = code
    }

    public static let ok = Status(200)
    public static let created = Status(201)
    public static let accepted = Status(202)
    public static let noContent = Status(204)
    public static let found = Status(302)
    public static let notModified = Status(304)
    public static let badRequest = Status(400)
    public static let unauthorized = Status(401)
    public static let forbidden = Status(403)
    public static let notFound = Status(404)
    public static let methodNotAllowed = Status(405)
    public static let conflict = Status(409)
    public static let gone = Status(410)
    public static let unsupportedMediaType = Status(415)
    public static let unprocessableContent = Status(422)
    public static let tooManyRequests = Status(429)
    public static let internalServerError = Status(500)
    public static let notImplemented = Status(501)
    public static let serviceUnavailable = Status(503)
    public static let versionNotSupported = Status(505)

    /// The registered phrase of each code listed here; empty for any other code, as RFC 9112 §4 allows.
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
