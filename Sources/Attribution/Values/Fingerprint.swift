internal import Crypto

/// The SHA-256 that a client sends instead of its device's values: 32 bytes as four words.
public struct Fingerprint: Hashable, Sendable {
    public let words: (UInt64, UInt64, UInt64, UInt64)

    public init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    public static func == (left: Fingerprint, right: Fingerprint) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// Computes a fingerprint, and reads and writes its text form.
extension Fingerprint {
    /// Creates the SHA-256 of the UTF-8 bytes of `text`, as clients compute it.
    public init(of text: String) { self.init(words: SHA256.digest(of: Array(text.utf8)).words) }

    /// Returns nil unless there are exactly 64 hexadecimal digits, in either case.
    public init?(hex: String) { self.init(hexDigits: Array(hex.utf8).span) }

    /// Reads the bytes of a request; nil unless they are exactly 64 hexadecimal digits, in either case.
    public init?(hexDigits: Span<UInt8>) {
        guard hexDigits.count == 64, let first = Self.word(hexDigits, at: 0),
            let second = Self.word(hexDigits, at: 16), let third = Self.word(hexDigits, at: 32),
            let fourth = Self.word(hexDigits, at: 48)
        else { return nil }
        self.init(words: (first, second, third, fourth))
    }

    /// Returns whether a text contains at least as many consecutive hexadecimal digits as a fingerprint has.
    public static func mayOccur(in text: String) -> Bool {
        text.utf8.split { Hexadecimal.value(of: $0) == nil }.contains { $0.count >= 64 }
    }

    /// 64 lower-case digits.
    public var hex: String {
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for word in [words.0, words.1, words.2, words.3] {
            Hexadecimal.append(word, to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func word(_ digits: Span<UInt8>, at start: Int) -> UInt64? {
        guard let high = Hexadecimal.value(ofEight: digits, at: start),
            let low = Hexadecimal.value(ofEight: digits, at: start + 8)
        else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }
}
