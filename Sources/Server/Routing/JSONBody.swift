internal import Attribution
internal import HTTPServer
internal import JSON

/// A JSON object from a request's body, read member by member.
///
/// A member of a wrong type, length or range throws a 400 that names it, or a 422 in the admin API. `null` counts as not
/// sent.
struct JSONBody {
    private let object: JSONObject
    private let bytes: [UInt8]
    /// The object's path in the body, for example `signals.`.
    private let path: String
    /// The status of the error for a refused member.
    private var refusal = Status.badRequest
}

extension JSONBody {
    /// - Parameters:
    ///   - request: the request with the body.
    ///   - mediaTypes: the media types that the body may have.
    ///   - refusal: the status of the error for a body of another shape: 400, or 422 in the admin API.
    /// - Throws: 415 for another media type or a content coding, 400 for text that is not JSON, and `refusal` for JSON
    ///   that is not an object.
    init(
        _ request: Request,
        accepting mediaTypes: [String] = ["application/json"],
        refusingWith refusal: Status = .badRequest
    ) throws(APIError) {
        guard Self.isUncoded(request) else {
            throw APIError(
                status: .unsupportedMediaType,
                code: .unsupportedMediaType,
                message: "Send the body uncompressed, without Content-Encoding",
                field: "Content-Encoding",
                // This field reports that no coding is supported (RFC 9110 §12.5.3, RFC 7694).
                fieldLines: [FieldLine(name: "Accept-Encoding", value: "identity")]
            )
        }
        let isAccepted = request.withFieldBytes("content-type") { type in
            mediaTypes.contains { Self.isMediaType($0, type) }
        }
        guard isAccepted == true else {
            let message = "Send JSON with Content-Type: \(mediaTypes[0])"
            throw APIError(status: .unsupportedMediaType, code: .unsupportedMediaType, message: message)
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: request.body)
        } catch {
            throw APIError(status: .badRequest, code: .invalidJSON, message: error.message)
        }
        guard case .object(let object) = value else { throw .noObject(refusal) }
        self.init(object: object, bytes: request.body, path: "", refusal: refusal)
    }

    /// Reads the body of a call of the admin API.
    ///
    /// - Parameters:
    ///   - request: the request with the body.
    ///   - known: the members that the call knows; nil if the caller refuses unknown members.
    /// - Throws: 422 for a member that the call does not know, because a mistyped name would change what the call does;
    ///   and all errors of ``init(_:accepting:refusingWith:)``.
    init(ofAdmin request: Request, with known: [String]? = nil) throws(APIError) {
        try self.init(request, refusingWith: .unprocessableContent)
        guard let known else { return }
        let problems = object.members.map(\.name).filter { !known.contains($0) }.prefix(10).map {
            FieldProblem($0, "This call has no member \($0); send only \(known.joined(separator: ", ")).")
        }
        guard problems.isEmpty else { throw .unprocessable(Array(problems)) }
    }

    /// Reads an object from a header field in base64url; nil without the field.
    ///
    /// - Throws: 400 for several lines of the field, and for a text that is not such an object.
    init?(base64URLField name: String, of request: Request) throws(APIError) {
        guard let text = try request.onlyField(name) else { return nil }
        // Many encoders pad the text with up to two `=`.
        let padding = text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
        let bytes = Base64URL.bytes(of: String(text.dropLast(padding)))
        guard let bytes, case .object(let object)? = try? JSONValue(parsing: bytes) else {
            throw .invalidField(name, "must be a JSON object in base64url, on one line")
        }
        self.init(object: object, bytes: bytes, path: "\(name).")
    }

    /// Returns the error for a member whose value contradicts another part of the request.
    func refusal(of name: String, _ rule: String) -> APIError { .invalidField(path + name, rule, refusal) }

    var members: JSONObject { object }

    /// The object's text in the body.
    var source: String { String(decoding: bytes[object.byteRange], as: UTF8.self) }

    /// Reads a text of at most `maximumLength` characters; nil if it was not sent or is empty.
    func text(_ name: String, _ maximumLength: Int) throws(APIError) -> String? {
        switch object[name] {
        case nil, .some(.null): return nil
        case .string(let text):
            guard text.utf8.count <= maximumLength || text.unicodeScalars.count <= maximumLength else {
                throw refusal(of: name, "may have \(maximumLength) characters at most")
            }
            return text.isEmpty ? nil : text
        default: throw refusal(of: name, "must be a text")
        }
    }

    /// Reads a member that may have any type; nil if it is not a text.
    func anyText(_ name: String) -> String? {
        guard case .string(let text) = object[name] else { return nil }
        return text
    }

    func flag(_ name: String) throws(APIError) -> Bool? { try value(name, "true or false") { $0.bool } }
    func integer(_ name: String) throws(APIError) -> Int64? { try value(name, "a whole number") { $0.int64 } }

    func integer(_ name: String, in allowed: ClosedRange<Int64>) throws(APIError) -> Int64? {
        guard let number = try integer(name) else { return nil }
        guard allowed.contains(number) else {
            let rule = "must be a whole number from \(allowed.lowerBound) to \(allowed.upperBound)"
            throw refusal(of: name, rule)
        }
        return number
    }

    func number(_ name: String) throws(APIError) -> Double? { try value(name, "a number") { $0.double } }

    func number(_ name: String, in allowed: ClosedRange<Double>) throws(APIError) -> Double? {
        guard let number = try number(name) else { return nil }
        guard allowed.contains(number) else {
            let rule = "must lie between \(allowed.lowerBound) and \(allowed.upperBound)"
            throw refusal(of: name, rule)
        }
        return number
    }

    /// Reads a list of at most `count` texts of at most `maximumLength` characters each; nil if it was not sent.
    func texts(_ name: String, _ maximumLength: Int, count: Int = .max) throws(APIError) -> [String]? {
        let form = "a list of texts"
        guard let values = try value(name, form, { $0.array }) else { return nil }
        guard values.count <= count else { throw refusal(of: name, "may have \(count) entries at most") }
        let texts = values.compactMap {
            $0.string.flatMap { $0.unicodeScalars.count <= maximumLength ? $0 : nil }
        }
        guard texts.count == values.count else { throw refusal(of: name, "must be \(form)") }
        return texts
    }

    /// Reads a list of objects; nil if it was not sent.
    ///
    /// The error for a member of an object names the member without the list.
    func objects(_ name: String, count: ClosedRange<Int>) throws(APIError) -> [JSONBody]? {
        let form = "a list of \(count.lowerBound) to \(count.upperBound) objects"
        guard let values = try value(name, form, { $0.array }) else { return nil }
        let objects = values.compactMap(\.object)
        guard objects.count == values.count, count.contains(objects.count) else {
            throw refusal(of: name, "must be \(form)")
        }
        return objects.map { JSONBody(object: $0, bytes: bytes, path: "", refusal: refusal) }
    }

    func object(_ name: String) throws(APIError) -> JSONBody? {
        try value(name, "an object") { $0.object }
            .map { JSONBody(object: $0, bytes: bytes, path: "\(path)\(name).", refusal: refusal) }
    }

    /// Reads a member that must have one JSON type; nil if it was not sent.
    private func value<Value>(
        _ name: String,
        _ form: String,
        _ read: (JSONValue) -> Value?
    ) throws(APIError) -> Value? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let result = read(value) else { throw refusal(of: name, "must be \(form)") }
        return result
    }

    /// Reads a text of at most 255 characters that represents another value, such as a time; nil if it was not sent.
    private func value<Value>(
        of name: String,
        _ rule: String,
        _ read: (String) -> Value?
    ) throws(APIError) -> Value? {
        guard let text = try text(name, 255) else { return nil }
        guard let value = read(text) else { throw refusal(of: name, rule) }
        return value
    }

    /// Returns whether the body has no content coding (RFC 9110 §8.4), or `identity` alone.
    private static func isUncoded(_ request: Request) -> Bool {
        guard request.hasField("content-encoding") else { return true }
        return request.fields("content-encoding").allSatisfy { line in
            line.split(whereSeparator: { ", \t".contains($0) }).allSatisfy { $0.lowercased() == "identity" }
        }
    }

    /// Returns whether a `Content-Type` field has this type and subtype, in either case and with any parameters.
    private static func isMediaType(_ lowercase: String, _ field: Span<UInt8>) -> Bool {
        let wanted = lowercase.utf8.span
        guard field.count >= wanted.count else { return false }
        for index in wanted.indices {
            let byte = field[index]
            let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isCapital ? byte | 0x20 : byte) == wanted[index] else { return false }
        }
        guard field.count > wanted.count else { return true }
        return [UInt8(ascii: ";"), UInt8(ascii: " "), UInt8(ascii: "\t")].contains(field[wanted.count])
    }
}

extension APIError {
    /// Creates the error for a body that is JSON, but not an object.
    static func noObject(_ status: Status = .badRequest) -> APIError {
        let (field, message) = ("body", "The body must be a JSON object")
        guard status == .badRequest else { return .unprocessable([FieldProblem(field, message + ".")]) }
        return APIError(status: status, code: .invalidJSON, message: message, field: field)
    }
}

/// Members of the body's top level that have the same meaning in every call.
extension JSONBody {
    func fingerprint() throws(APIError) -> Fingerprint? {
        guard let text = try text("fingerprint", .max) else { return nil }
        guard let fingerprint = Fingerprint(hex: text) else { throw .invalidFingerprint }
        return fingerprint
    }

    func time(_ name: String) throws(APIError) -> Timestamp? {
        let rule = "is not an ISO 8601 time such as 2026-01-31T12:00:00.000Z"
        return try value(of: name, rule) { Timestamp(iso8601: $0) }
    }

    func address() throws(APIError) -> NetworkAddress? {
        try value(of: "ip_address", "is not an IPv4 or IPv6 address") { NetworkAddress($0) }
    }

    func window() throws(APIError) -> AttributionWindow? {
        let name = "attribution_window_seconds"
        // A number that is too large for an integer is outside the allowed range, too.
        let read = { (value: JSONValue) -> Int64? in
            guard let number = value.number else { return nil }
            let isTooLarge = (number.double ?? .infinity).magnitude >= 0x1p53
            return number.int64 ?? (isTooLarge ? Int64.max : nil)
        }
        guard let seconds = try value(name, "a whole number", read) else { return nil }
        guard let window = AttributionWindow(seconds: seconds) else {
            let (allowed, code) = (AttributionWindow.allowedSeconds, APIError.Code.expiredAttributionWindow)
            let message = "\(name) must lie between \(allowed.lowerBound) and \(allowed.upperBound)"
            throw APIError(status: .badRequest, code: code, message: message, field: name)
        }
        return window
    }

    func platform() throws(APIError) -> Platform? {
        try text("platform", 255).map { Platform(rawValue: $0.lowercased()) ?? .other }
    }
}
