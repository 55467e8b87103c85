/// Writes one JSON document, byte by byte, in the order of the calls.
///
/// The document may also be a part of a script in an HTML page: the writer escapes `<`, U+007F, U+2028 and U+2029 in
/// addition to the characters that RFC 8259 §7 requires.
///
///     var writer = JSONWriter()
///     writer.object { writer in
///         writer.member("status", "match")
///         writer.member("metadata") { $0.object { $0.member("utm_source", "instagram") } }
///     }
public struct JSONWriter: Sendable {
    /// The document so far, UTF-8.
    public private(set) var bytes: [UInt8] = []

    private let isPretty: Bool
    private var depth = 0
    /// Whether the next value or name is the first of its array or object.
    private var isFirst = true
    /// Whether the last call wrote a name, so that the next call must write its value.
    private var isAfterName = false

    /// - Parameters:
    ///   - isPretty: whether to write each member and element on its own line.
    ///   - reservedCapacity: the expected length in bytes.
    public init(isPretty: Bool = false, reservedCapacity: Int = 512) {
        self.isPretty = isPretty
        bytes.reserveCapacity(reservedCapacity)
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: - Containers

    /// Writes a document that is one object.
    public static func object(isPretty: Bool = false, _ write: (inout JSONWriter) -> Void) -> JSONWriter {
        var json = JSONWriter(isPretty: isPretty)
        json.object(write)
        return json
    }

    public mutating func object(_ writeMembers: (inout JSONWriter) -> Void) {
        container(UInt8(ascii: "{"), UInt8(ascii: "}"), writeMembers)
    }

    public mutating func array(_ writeElements: (inout JSONWriter) -> Void) {
        container(UInt8(ascii: "["), UInt8(ascii: "]"), writeElements)
    }

    private mutating func container(_ open: UInt8, _ close: UInt8, _ write: (inout JSONWriter) -> Void) {
        startValue()
        bytes.append(open)
        depth += 1
        isFirst = true
        write(&self)
        depth -= 1
        if !isFirst { breakLine() }
        isFirst = false
        bytes.append(close)
    }

    /// Writes the name of a member; the next call writes its value.
    public mutating func name(_ name: String) {
        startElement()
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        if isPretty { bytes.append(UInt8(ascii: " ")) }
        isAfterName = true
    }

    // MARK: - Values

    public mutating func value(_ text: String) {
        startValue()
        JSONText.append(text, to: &bytes)
    }

    public mutating func value(_ number: Int64) {
        startValue()
        JSONText.append(number, to: &bytes)
    }

    public mutating func value(_ number: Int) { value(Int64(number)) }

    /// Writes the shortest text that a reader converts to the same double; `null` for infinity and NaN.
    public mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        startValue()
        bytes.append(contentsOf: number.description.utf8)
    }

    public mutating func value(_ flag: Bool) {
        startValue()
        bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    }

    public mutating func null() {
        startValue()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a text that is already JSON, such as a click's metadata, without changes.
    public mutating func raw(_ json: some Sequence<UInt8>) {
        startValue()
        bytes.append(contentsOf: json)
    }

    // MARK: - Layout

    private mutating func startValue() { if isAfterName { isAfterName = false } else { startElement() } }

    private mutating func startElement() {
        precondition(!isAfterName, "a name must be followed by its value")
        guard depth > 0 else { return }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        breakLine()
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }
}

// MARK: - Members

/// Writes members; omits a member whose value is nil, unless the argument is named `orNull`.
extension JSONWriter {
    public mutating func member(_ name: String, _ value: String?) {
        if let value { member(name) { $0.value(value) } }
    }

    public mutating func member(_ name: String, _ value: Int64?) {
        if let value { member(name) { $0.value(value) } }
    }

    public mutating func member(_ name: String, _ value: Int?) { member(name, value.map(Int64.init)) }

    public mutating func member(_ name: String, _ value: Double?) {
        if let value { member(name) { $0.value(value) } }
    }

    public mutating func member(_ name: String, _ value: Bool?) {
        if let value { member(name) { $0.value(value) } }
    }

    /// Writes a member; `write` must write exactly one value.
    public mutating func member(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        write(&self)
    }

    /// Writes a member with a number; `null` for nil, infinity and NaN.
    public mutating func member(_ name: String, orNull value: Double?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member with a text; `null` for nil.
    public mutating func member(_ name: String, orNull value: String?) {
        self.name(name)
        if let value { self.value(value) } else { null() }
    }

    /// Writes a member that is a list of texts.
    public mutating func member(_ name: String, _ texts: [String]) {
        self.name(name)
        array { json in for text in texts { json.value(text) } }
    }

    /// Writes a member that is an object.
    public mutating func object(_ name: String, _ writeMembers: (inout JSONWriter) -> Void) {
        self.name(name)
        object(writeMembers)
    }

    /// Writes a member that is a list with an object for each element.
    public mutating func objects<Element>(
        _ name: String,
        _ elements: some Sequence<Element>,
        _ writeMembers: (inout JSONWriter, Element) -> Void
    ) {
        self.name(name)
        array { json in for element in elements { json.object { writeMembers(&$0, element) } } }
    }
}

// MARK: - Compound values

extension JSONWriter {
    /// Writes a value as it was read, with the order of its members and all digits of its numbers.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let flag): self.value(flag)
        case .number(let number): raw(number.text.utf8)
        case .string(let text): self.value(text)
        case .array(let values): array { json in for value in values { json.value(value) } }
        case .object(let object):
            self.object { json in
                for member in object.members {
                    json.name(member.name)
                    json.value(member.value)
                }
            }
        }
    }
}

// MARK: - Text

/// The text of strings (RFC 8259 §7) and numbers.
private enum JSONText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Appends `text` with its quotation marks.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        let source = text.utf8.span
        var index = 0
        while index < source.count, !mayNeedEscape(source[index]) { index += 1 }
        if index == source.count {
            // Most strings need no escape, so copy their bytes.
            bytes.append(addingCapacity: source.count) { free in
                for index in source.indices { free.append(source[index]) }
            }
        } else {
            for scalar in text.unicodeScalars { append(scalar, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a number in decimal digits.
    static func append(_ number: Int64, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Returns whether a byte starts a character that may need an escape.
    ///
    /// U+2028 and U+2029 start with E2 in UTF-8.
    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<")
            || byte == 0x7f || byte == 0xe2
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: scalar)])
        case "\n": bytes.append(contentsOf: "\\n".utf8)
        case "\r": bytes.append(contentsOf: "\\r".utf8)
        case "\t": bytes.append(contentsOf: "\\t".utf8)
        case "\u{0}"..."\u{1f}", "<", "\u{7f}", "\u{2028}", "\u{2029}":
            bytes.append(contentsOf: "\\u".utf8)
            for shift in stride(from: 12, through: 0, by: -4) {
                bytes.append(digits[Int(scalar.value >> UInt32(shift) & 15)])
            }
        default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
