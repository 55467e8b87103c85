internal import Attribution
internal import HTTPServer
internal import JSON

extension Response {
    /// Creates the response to an error: the one place where errors become responses.
    init(_ error: APIError) {
        var json = JSONWriter()
        json.object { json in
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
        self.init(error.status, fields: error.fieldLines, contentType: .json, body: json.bytes)
        fields.append(.noStore)
        if let retryAfter = error.retryAfter {
            fields.append(FieldLine(name: "Retry-After", value: String(retryAfter)))
        }
    }

    init(_ status: Status, json: JSONWriter) {
        self.init(status, fields: [.noStore], contentType: .json, body: json.bytes)
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
            case .broken: .internalError
            case .notImplemented: .notImplemented
            case .overloaded: .unavailable
            case .versionNotSupported: .versionNotSupported
            }
        self.init(
            status: rejection.status,
            code: code,
            message: rejection.reason,
            retryAfter: rejection.kind == .overloaded ? 1 : nil
        )
    }
}
