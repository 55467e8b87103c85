/// A parser of bytes from outside, and what must hold whatever they are.
public struct FuzzEntry: Sendable, CustomStringConvertible {
    /// The entry's name, which its corpus' folder has too.
    public let name: String
    /// Pieces that mean something to the parser: mutations put them in.
    let tokens: [[UInt8]]
    /// Gives the bytes to the parser.
    ///
    /// The generator decides what the check leaves open, such as where bytes are cut.
    let check: @Sendable (_ bytes: [UInt8], _ random: inout FuzzGenerator) throws(BrokenPromise) -> Void

    init(
        _ name: String,
        tokens: [String],
        check:
            @escaping @Sendable (_ bytes: [UInt8], _ random: inout FuzzGenerator) throws(BrokenPromise) ->
            Void
    ) {
        self.name = name
        self.tokens = tokens.map { Array($0.utf8) }
        self.check = check
    }

    /// An entry for a parser of texts; bytes that are no UTF-8 reach it as the server would hand them on.
    init(
        text name: String,
        tokens: [String],
        check: @escaping @Sendable (_ text: String) throws(BrokenPromise) -> Void
    ) {
        self.init(name, tokens: tokens) { (bytes, _) throws(BrokenPromise) in
            try check(String(decoding: bytes, as: UTF8.self))
        }
    }

    public var description: String { name }

    /// The entry of a name.
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

/// What a parser must never do, and did.
public struct BrokenPromise: Error, CustomStringConvertible, Equatable {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// - Throws: unless a promise holds.
func promise(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(BrokenPromise) {
    guard holds else { throw BrokenPromise(sentence()) }
}
