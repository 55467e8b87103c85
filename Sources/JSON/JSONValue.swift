/// A JSON value as read from a document (RFC 8259).
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    public var isNull: Bool { self == .null }

    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    public var number: JSONNumber? {
        guard case .number(let value) = self else { return nil }
        return value
    }

    /// A number that is whole and fits, however it is written (`60`, `60.0`, `6e1`).
    public var int64: Int64? { number?.int64 }

    /// A number as near as a double comes; nil when it is too large for one.
    public var double: Double? { number?.double }

    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    public var array: [JSONValue]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    public var object: JSONObject? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    /// What it is, for messages: "a string", "an object".
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

/// The members of an object in the order of the document.
///
/// No name occurs twice.
public struct JSONObject: Sendable {
    public struct Member: Equatable, Sendable {
        public let name: String
        public let value: JSONValue
    }

    public let members: [Member]
    /// Where the object stands in the document, from `{` to behind `}`: to give it back as it was written.
    public let byteRange: Range<Int>

    init(members: [Member], byteRange: Range<Int>) {
        self.members = members
        self.byteRange = byteRange
    }

    /// The value of a member; nil when there is none, while `null` is a value.
    public subscript(name: String) -> JSONValue? {
        members.first { $0.name.hasSameBytes(as: name) }?.value
    }
}

extension JSONObject: Equatable {
    /// Same members in the same order, wherever they stand.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members == right.members
    }
}
