internal import Attribution
internal import HTTPServer
internal import JSON
internal import Threads

/// An error as callers see it: a status, a stable code, and a message that says what to do.
///
/// It reveals nothing internal: no SQL, no file path, no version. The article API lists all codes.
package struct APIError: Error, Equatable {
    package enum Code: String, CaseIterable {
        case invalidFingerprint = "INVALID_FINGERPRINT"
        case invalidURL = "INVALID_URL"
        case missingRequiredField = "MISSING_REQUIRED_FIELD"
        case invalidField = "INVALID_FIELD"
        case invalidJSON = "INVALID_JSON"
        case invalidAPIKey = "INVALID_API_KEY"
        /// The client sent a key in the address instead of in the Authorization field.
        case keyInURL = "KEY_IN_URL"
        case forbidden = "FORBIDDEN"
        case notFound = "NOT_FOUND"
        /// A link that no longer leads anywhere.
        case linkEnded = "LINK_ENDED"
        /// The request contradicts stored data.
        case conflict = "CONFLICT"
        case methodNotAllowed = "METHOD_NOT_ALLOWED"
        case bodyTooLarge = "BODY_TOO_LARGE"
        case uriTooLong = "URI_TOO_LONG"
        case headersTooLarge = "HEADERS_TOO_LARGE"
        case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
        case expiredAttributionWindow = "EXPIRED_ATTRIBUTION_WINDOW"
        case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
        case unavailable = "UNAVAILABLE"
        case internalError = "INTERNAL_ERROR"
        /// The bytes are not an HTTP request; an HTTP client never gets this code.
        case badRequest = "BAD_REQUEST"
        case requestTimeout = "REQUEST_TIMEOUT"
        case notImplemented = "NOT_IMPLEMENTED"
        case versionNotSupported = "HTTP_VERSION_NOT_SUPPORTED"
        case expectationFailed = "EXPECTATION_FAILED"
    }

    let status: Status
    package let code: Code
    package let message: String
    /// The body member, query parameter or header that is wrong; nil if none is.
    package var field: String?
    /// All problems, if a call reports several at once; ``message`` and ``field`` then describe the first one.
    var problems: [FieldProblem] = []
    /// Seconds until another attempt makes sense, sent as `Retry-After`; nil if the error suggests none.
    ///
    /// A 429 gets its value from ``Exchange/checkRate(_:)``.
    var retryAfter: Int?
    var fieldLines: [FieldLine] = []

    /// The fields of the response: ``fieldLines``, and `Retry-After` if the caller may try again.
    var responseFields: [FieldLine] {
        fieldLines + (retryAfter.map { [FieldLine(name: "Retry-After", value: String($0))] } ?? [])
    }
}

extension APIError {
    static func invalidField(_ field: String, _ rule: String, _ status: Status = .badRequest) -> APIError {
        APIError(status: status, code: .invalidField, message: "\(field) \(rule)", field: field)
    }

    static func missingField(_ field: String, _ advice: String) -> APIError {
        APIError(status: .badRequest, code: .missingRequiredField, message: advice, field: field)
    }

    static func invalidURL(_ field: String, _ advice: String) -> APIError {
        APIError(status: .badRequest, code: .invalidURL, message: advice, field: field)
    }

    static let invalidFingerprint = APIError(
        status: .badRequest,
        code: .invalidFingerprint,
        message: "fingerprint must be 64 hexadecimal digits, sent once: the SHA-256 of the device's values",
        field: "fingerprint"
    )

    /// The error for a missing, malformed, unknown, expired or revoked key.
    ///
    /// The five cases get the same error, so that a caller cannot learn whether a key exists.
    static let invalidAPIKey = APIError(
        status: .unauthorized,
        code: .invalidAPIKey,
        message: "Send a valid API key as \"Authorization: Bearer KEY\"",
        fieldLines: [FieldLine(name: "WWW-Authenticate", value: "Bearer")]
    )

    /// The error for a key in the address, the same whether the key is valid or not.
    static let keyInURL = APIError(
        status: .badRequest,
        code: .keyInURL,
        message: "The address contains an API key, and proxies and logs store addresses. Send the key as "
            + "\"Authorization: Bearer <key>\", and replace this key by a new one"
    )

    static func forbidden(_ message: String) -> APIError {
        APIError(status: .forbidden, code: .forbidden, message: message)
    }

    static func notFound(_ message: String, field: String? = nil) -> APIError {
        APIError(status: .notFound, code: .notFound, message: message, field: field)
    }

    static func conflict(_ message: String, field: String? = nil) -> APIError {
        APIError(status: .conflict, code: .conflict, message: message, field: field)
    }

    /// Reports all problems of well-formed JSON that has a wrong shape or wrong values.
    static func unprocessable(_ problems: [FieldProblem]) -> APIError {
        refused(problems, .unprocessableContent)
    }

    /// Reports wrong query parameters, all of them at once.
    static func invalidItems(_ problems: [FieldProblem]) -> APIError { refused(problems, .badRequest) }

    private static func refused(_ problems: [FieldProblem], _ status: Status) -> APIError {
        let (first, code) = (problems.first, Code.invalidField)
        let message = first?.message ?? "The request has a wrong parameter"
        return APIError(status: status, code: code, message: message, field: first?.field, problems: problems)
    }

    static func methodNotAllowed(allow: String) -> APIError {
        let (message, line) = ("This path takes \(allow)", FieldLine(name: "Allow", value: allow))
        let code = Code.methodNotAllowed
        return APIError(status: .methodNotAllowed, code: code, message: message, fieldLines: [line])
    }

    /// Creates the error for a store's failure: 500 for a defect, a conflict or a missing row, else 503.
    ///
    /// A store's failure never becomes a "no match".
    init(_ error: StoreError, requestID: String) {
        switch error.code {
        case .defect, .conflict, .notFound: self = .internalError(requestID: requestID)
        case .overloaded, .timedOut, .full, .readOnly, .inputOutput, .locked, .underWay, .unreachable,
            .corrupted, .incompatible, .unsupported, .stopping, .resources:
            self = .unavailable
        }
    }

    static let unavailable = APIError(
        status: .serviceUnavailable,
        code: .unavailable,
        message: "The service cannot store or read right now. Try again in a moment",
        retryAfter: 1
    )

    /// Returns a 503 with up to two seconds added to `Retry-After`, and every other error unchanged.
    ///
    /// The request's time decides the added seconds, so that refused callers do not all retry at the same time.
    func spread(by moment: MonotonicTime) -> APIError {
        guard code == .unavailable, let retryAfter else { return self }
        var error = self
        error.retryAfter = retryAfter + Int(moment.nanoseconds / 1000 % 3)
        return error
    }

    static func internalError(requestID: String) -> APIError {
        let message = "A defect of the server; its operator finds it in the log under request id \(requestID)"
        return APIError(status: .internalServerError, code: .internalError, message: message)
    }
}

extension Response {
    /// Creates the response to an error; all error responses are made here.
    init(_ error: APIError) {
        let json = JSONWriter.object { json in
            json.member("status", "error")
            json.member("error_code", error.code.rawValue)
            json.member("message", error.message)
            if let field = error.field { json.member("field", field) }
            if let retryAfter = error.retryAfter { json.member("retry_after", Int64(retryAfter)) }
            if !error.problems.isEmpty {
                json.objects("errors", error.problems) { json, problem in
                    json.member("field", problem.field)
                    json.member("message", problem.message)
                }
            }
        }
        let fields: [FieldLine] = [.noStore] + error.responseFields
        self.init(error.status, fields: fields, contentType: .json, body: json.bytes)
    }

    /// Creates a response with JSON that must not be cached.
    init(_ status: Status, json: JSONWriter) {
        self.init(status, fields: [.noStore], contentType: .json, body: json.bytes)
    }

    /// Creates a response with a JSON object that must not be cached.
    init(_ status: Status, _ writeMembers: (inout JSONWriter) -> Void) {
        self.init(status, json: .object(writeMembers))
    }
}

extension FieldLine {
    static let noStore = FieldLine(name: "Cache-Control", value: "no-store")
}

extension APIError {
    /// The error for bytes that never became a request.
    init(_ rejection: Rejection) {
        let code: Code =
            switch rejection.kind {
            case .malformed: .badRequest
            case .tooSlow: .requestTimeout
            case .bodyTooLarge: .bodyTooLarge
            case .targetTooLong: .uriTooLong
            case .expectationUnknown: .expectationFailed
            case .fieldsTooLarge: .headersTooLarge
            case .notImplemented: .notImplemented
            case .overloaded: .unavailable
            case .versionNotSupported: .versionNotSupported
            }
        let retryAfter = rejection.kind == .overloaded ? 1 : nil
        self.init(status: rejection.status, code: code, message: rejection.reason, retryAfter: retryAfter)
    }
}
