/// A value in a JSON document (RFC 8259).
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    public var isNull: Bool { self == .null }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }

    /// The number as ``JSONNumber/int64``; nil if it is not whole or too large, and for any other kind of value.
    public var int64: Int64? { number?.int64 }

    /// The nearest double; nil if the number is too large, and for any other kind of value.
    public var double: Double? { number?.double }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The kind of value, for messages: "a string", "an object".
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The members of an object in the order of the document; no name occurs twice.
public struct JSONObject: Sendable {
    public struct Member: Equatable, Sendable {
        public let name: String
        public let value: JSONValue
    }

    public let members: [Member]
    /// The range of the object's bytes in the document, from brace to brace, for copying the object as it was written.
    public let byteRange: Range<Int>

    /// Returns the value of a member, which may be `null`; nil if the object has no such member.
    public subscript(name: String) -> JSONValue? { members.first { $0.name.hasSameBytes(as: name) }?.value }
}

extension JSONObject: Equatable {
    /// Returns whether both have the same members in the same order; the positions may differ.
    public static func == (left: JSONObject, right: JSONObject) -> Bool { left.members == right.members }
}

/// A number as it is written in the document, so that the caller can choose a type without losing a digit.
public struct JSONNumber: Equatable, Sendable {
    /// The number in the grammar of RFC 8259 §6.
    public let text: String

    /// The number as a 64-bit integer, from any notation (`60`, `60.0`, `6e1`); nil if it is not whole or too large.
    ///
    /// A number with a dot or an exponent is first rounded to a double, whose magnitude must not exceed 2⁵³.
    public var int64: Int64? {
        if let value = Int64(text) { return value }
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }),
            let double, double.magnitude <= 9_007_199_254_740_992
        else { return nil }
        let whole = Int64(double)
        return Double(whole) == double ? whole : nil
    }

    /// The nearest double; zero for a number too close to zero, nil for one beyond the range of doubles.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
