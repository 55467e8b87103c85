import JSON
import Testing

/// A JSON document in a test's table, written as a text, or as bytes if it is not UTF-8.
struct JSONDocument: Sendable, CustomTestStringConvertible, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
    init(stringLiteral text: String) { bytes = Array(text.utf8) }
    init(arrayLiteral bytes: UInt8...) { self.bytes = bytes }

    /// Returns an array with a string of these bytes.
    static func inString(_ bytes: UInt8...) -> JSONDocument {
        JSONDocument(Array("[\"".utf8) + bytes + Array("\"]".utf8))
    }

    static func repeating(_ text: String, _ count: Int, then end: String = "") -> JSONDocument {
        JSONDocument(Array(String(repeating: text, count: count).utf8) + Array(end.utf8))
    }

    var testDescription: String {
        bytes.count > 60 ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self)
    }

    /// The error that the parser throws for the document; nil if the document is valid.
    var refusal: JSONError? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }
}
