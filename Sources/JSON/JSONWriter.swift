/// Writes one JSON document, byte by byte, in the order in which it is told.
///
/// Strings are escaped so that the document may also stand inside an HTML page's script: besides what RFC
/// 8259 §7 asks for, `<`, U+2028 and U+2029 are written as escapes.
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
    /// Whether a name was written and its value is next.
    private var isAfterName = false

    /// - Parameters:
    ///   - isPretty: a line per member and element, for people.
    ///   - reservedCapacity: bytes to make room for.
    public init(isPretty: Bool = false, reservedCapacity: Int = 512) {
        self.isPretty = isPretty
        bytes.reserveCapacity(reservedCapacity)
    }

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: - Containers

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

    /// The name of a member; its value comes next.
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

    public mutating func value(_ number: Int) {
        value(Int64(number))
    }

    /// The shortest text that reads as the same double; `null` for what JSON has no number for.
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

    /// A value that is JSON already, as a click's metadata is.
    public mutating func raw(_ json: some Sequence<UInt8>) {
        startValue()
        bytes.append(contentsOf: json)
    }

    // MARK: - Layout

    private mutating func startValue() {
        if isAfterName {
            isAfterName = false
        } else {
            startElement()
        }
    }

    private mutating func startElement() {
        precondition(!isAfterName, "a name is followed by its value")
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
