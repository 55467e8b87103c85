import JSON
import Testing

/// A document for a table: written as text, or as bytes that are not UTF-8.
struct JSONDocument: Sendable, CustomTestStringConvertible, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral
{
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
    init(stringLiteral text: String) { bytes = Array(text.utf8) }
    init(arrayLiteral bytes: UInt8...) { self.bytes = bytes }

    /// Bytes between the quotation marks of a string in an array.
    static func inString(_ bytes: UInt8...) -> JSONDocument {
        JSONDocument(Array("[\"".utf8) + bytes + Array("\"]".utf8))
    }

    static func repeating(_ text: String, _ count: Int, then end: String = "") -> JSONDocument {
        JSONDocument(Array(String(repeating: text, count: count).utf8) + Array(end.utf8))
    }

    var testDescription: String {
        bytes.count > 60 ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self)
    }

    /// The reason why the document is refused; nil if it is read.
    var refusal: JSONError? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }
}
