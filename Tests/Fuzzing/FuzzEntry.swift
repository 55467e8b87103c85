/// A parser of bytes from outside, with the promises that it keeps for any bytes.
public struct FuzzEntry: Sendable, CustomStringConvertible {
    /// The entry's name, which is also the name of its corpus' folder.
    public let name: String
    /// Byte strings with a meaning for the parser, which mutations insert.
    let tokens: [[UInt8]]
    /// Passes the bytes to the parser, and throws if a promise is broken.
    ///
    /// The generator makes random choices, such as where bytes are cut.
    let check: @Sendable (_ bytes: [UInt8], _ random: inout FuzzGenerator) throws(BrokenPromise) -> Void

    init(
        _ name: String,
        tokens: [String],
        check: @escaping @Sendable (_ bytes: [UInt8], inout FuzzGenerator) throws(BrokenPromise) -> Void
    ) { (self.name, self.tokens, self.check) = (name, tokens.map { Array($0.utf8) }, check) }

    /// Creates an entry for a parser of texts; as in the server, invalid UTF-8 is repaired before parsing.
    init(
        text name: String,
        tokens: [String],
        check: @escaping @Sendable (_ text: String) throws(BrokenPromise) -> Void
    ) {
        self.init(name, tokens: tokens) { (bytes, _) throws(BrokenPromise) in
            try check(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Creates an entry for a type with a text form; it promises that the text of a parsed value gives the same value.
    init<Value: Equatable & SendableMetatype>(
        same name: String,
        tokens: [String],
        read: @escaping @Sendable (_ text: String) -> Value?,
        write: @escaping @Sendable (_ value: Value) -> String
    ) {
        self.init(text: name, tokens: tokens) { (text) throws(BrokenPromise) in
            guard let value = read(text) else { return }
            try promise(read(write(value)) == value, "a value changes when it is written and read again")
        }
    }

    public var description: String { name }

    /// Returns the entry with this name.
    public static func named(_ name: String) -> FuzzEntry? { all.first { $0.name == name } }

    /// Every entry.
    public static let all: [FuzzEntry] = [
        .http, .chunkedBody, .json, .query, .percentEncoding, .userAgent, .signals, .signalsLine,
        .deviceSignalsField, .source, .dataFile, .networkAddress, .addressRange, .addressRanges,
        .listenAddress, .forwardedFor, .forwarded, .deepLink, .destination, .origin, .timestamp, .identifier,
        .fingerprint, .names, .keyText, .rateLimit, .clickToken, .launchText, .resolveBody, .linkSlug,
        .linkFields, .firebaseLongLink, .csv, .qrColor, .qrStyle, .answer, .domainFile, .linkRule,
    ]
}

/// A promise that a parser has broken.
public struct BrokenPromise: Error, CustomStringConvertible, Equatable {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Throws the sentence unless the promise holds.
func promise(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(BrokenPromise) {
    guard holds else { throw BrokenPromise(sentence()) }
}
