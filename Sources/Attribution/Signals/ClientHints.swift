/// A browser's description of its device, in the header fields that start with `Sec-CH-UA`.
///
/// Source: User-Agent Client Hints (wicg.github.io/ua-client-hints). Browsers send the model and the version
/// only to sites that ask for them with `Accept-CH`.
public struct ClientHints: Equatable, Sendable {
    /// `Sec-CH-UA-Platform`, as `Android`, `iOS` or `Windows`.
    public var platform: String?
    /// `Sec-CH-UA-Mobile`.
    public var isMobile: Bool?
    /// `Sec-CH-UA-Model`; empty on desktops, nil if it was not sent.
    public var model: String?
    /// `Sec-CH-UA-Platform-Version`, as `14.0.0`.
    public var platformVersion: String?

    public init() {}

    /// Reads the hints from header fields; `field` returns the field with a lower-case name.
    ///
    /// A field that breaks the grammar counts as missing (RFC 8941, 4.2).
    public init(fields field: (_ name: String) -> String?) {
        platform = field("sec-ch-ua-platform").flatMap { StructuredItem($0)?.string }
        isMobile = field("sec-ch-ua-mobile").flatMap { StructuredItem($0)?.boolean }
        model = field("sec-ch-ua-model").flatMap { StructuredItem($0)?.string }
        platformVersion = field("sec-ch-ua-platform-version").flatMap { StructuredItem($0)?.string }
    }

    var knownPlatform: Platform? {
        switch platform {
        case "Android": .android
        case "iOS": .ios
        case nil, "", "Unknown": nil
        default: .other
        }
    }
}

/// The value of a header field that is a single item (RFC 8941, 3.3), without its parameters.
public struct StructuredItem: Equatable, Sendable {
    public enum Value: Equatable, Sendable {
        case string(String)
        case token(String)
        case boolean(Bool)
        case integer(Int)
    }

    public let value: Value

    public var string: String? { if case .string(let text) = value { text } else { nil } }
    public var boolean: Bool? { if case .boolean(let isTrue) = value { isTrue } else { nil } }

    /// Parses a field; nil if it breaks the grammar, and for decimals and byte sequences, which hints never are.
    public init?(_ field: String) {
        var rest = Array(field.utf8)[...]
        Self.skipSpaces(&rest)
        guard let value = Self.value(&rest), Self.skipParameters(&rest) else { return nil }
        Self.skipSpaces(&rest)
        guard rest.isEmpty else { return nil }
        self.value = value
    }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "\""): return string(&rest).map(Value.string)
        case UInt8(ascii: "?"): return boolean(&rest)
        case UInt8(ascii: "-"): return integer(&rest)
        case _ where first.isASCIIDigit: return integer(&rest)
        case UInt8(ascii: "*"): return .token(token(&rest))
        case _ where first.isASCIILetter: return .token(token(&rest))
        default: return nil
        }
    }

    /// Reads a string (RFC 8941, 4.2.5).
    private static func string(_ rest: inout ArraySlice<UInt8>) -> String? {
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(),
                    escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                text.append(escaped)
            case 0x20...0x7e: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Reads a Boolean (RFC 8941, 4.2.8).
    private static func boolean(_ rest: inout ArraySlice<UInt8>) -> Value? {
        rest = rest.dropFirst()
        switch rest.popFirst() {
        case UInt8(ascii: "0"): return .boolean(false)
        case UInt8(ascii: "1"): return .boolean(true)
        default: return nil
        }
    }

    /// Reads an integer of at most fifteen digits (RFC 8941, 4.2.4).
    private static func integer(_ rest: inout ArraySlice<UInt8>) -> Value? {
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        let digits = rest.prefix(while: \.isASCIIDigit)
        rest = rest[digits.endIndex...]
        guard (1...15).contains(digits.count), rest.first != UInt8(ascii: ".") else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return .integer(isNegative ? -number : number)
    }

    /// Reads a token whose first character is known to be valid (RFC 8941, 4.2.6).
    private static func token(_ rest: inout ArraySlice<UInt8>) -> String {
        let text = rest.prefix { $0.isASCIIAlphanumeric || tokenCharacters.contains($0) }
        rest = rest[text.endIndex...]
        return String(decoding: text, as: UTF8.self)
    }

    private static let tokenCharacters = Array("!#$%&'*+-.^_`|~:/".utf8)

    /// Skips parameters (RFC 8941, 4.2.3.2); returns false if they break the grammar.
    private static func skipParameters(_ rest: inout ArraySlice<UInt8>) -> Bool {
        while rest.first == UInt8(ascii: ";") {
            rest = rest.dropFirst()
            skipSpaces(&rest)
            guard let first = rest.first, isKeyStart(first) else { return false }
            let key = rest.prefix {
                isKeyStart($0) || $0.isASCIIDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
                    || $0 == UInt8(ascii: ".")
            }
            rest = rest[key.endIndex...]
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst()
            guard value(&rest) != nil else { return false }
        }
        return true
    }

    private static func isKeyStart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "*") || byte.isASCIILetter && byte == byte.asciiLowercased
    }

    private static func skipSpaces(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == UInt8(ascii: " ") }
    }
}
