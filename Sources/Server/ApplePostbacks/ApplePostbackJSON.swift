package import Attribution
internal import HTTPServer
package import JSON

/// Reads the JSON of Apple's postbacks.
package enum ApplePostbackJSON {
    /// - Throws: 400 for anything but a JSON object.
    static func object(_ body: [UInt8]) throws(APIError) -> JSONObject {
        do throws(JSONError) {
            if let object = try JSONValue(parsing: body).object { return object }
        } catch {
            throw APIError(status: .badRequest, code: .invalidJSON, message: error.message)
        }
        throw .noObject()
    }

    /// Reads and verifies a postback.
    ///
    /// - Throws: 400 for a postback that Apple cannot have written.
    static func read(_ object: JSONObject, _ framework: ApplePostback.Framework?) throws(APIError)
        -> SignedApplePostback
    {
        do throws(FieldProblem) {
            return try signed(object, framework)
        } catch {
            throw APIError(
                status: .badRequest,
                code: .invalidField,
                message: error.message,
                field: error.field
            )
        }
    }

    /// Reads and verifies a postback; if no framework is given, the members of the object show which one it is.
    package static func signed(_ object: JSONObject, _ framework: ApplePostback.Framework? = nil)
        throws(FieldProblem) -> SignedApplePostback
    {
        let isKit = framework.map { $0 == .adAttributionKit } ?? (object["jws-string"] != nil)
        guard isKit else { return try SignedApplePostback(skAdNetwork: values(object)) }
        return try SignedApplePostback(adAttributionKit: values(object)) { bytes in
            (try? JSONValue(parsing: bytes))?.object.map(values)
        }
    }

    private static func values(_ object: JSONObject) -> [String: PostbackValue] {
        let pairs = object.members.map { member -> (String, PostbackValue) in
            switch member.value {
            case .string(let text): (member.name, .text(text))
            case .number(let number): (member.name, .number(number.text))
            case .bool(let flag): (member.name, .flag(flag))
            default: (member.name, .other)
            }
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
