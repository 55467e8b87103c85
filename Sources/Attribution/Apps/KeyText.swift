internal import Crypto

/// The secret text of a key: shown once, when it is made, and stored only as its ``KeyDigest``.
public struct KeyText: Sendable {
    /// The secret itself.
    public let text: String

    /// How long a text that the operator brings may be, in characters.
    public static let allowedLength = 32...256

    private static let randomByteCount = 32

    /// A new key: `<kind>_` and 32 random bytes in base64url.
    public init(kind: KeyKind, random: RandomSource) {
        text = "\(kind.rawValue)_\(Base64URL.text(of: random.exactly(Self.randomByteCount)))"
    }

    /// A key that the operator brings; nil unless it is ``allowedLength`` visible ASCII characters.
    public init?(operatorsOwn text: String) {
        guard Self.allowedLength.contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Whether a text holds something of the form of a made key, between characters that no key has.
    ///
    /// Keys that operators bring have no form to be known by.
    public static func occurs(in text: String) -> Bool {
        text.utf8.split { !isKeyByte($0) }.contains { word in
            KeyKind.allCases.contains { kind in
                word.count == kind.rawValue.utf8.count + 1 + secretLength
                    && word.starts(with: "\(kind.rawValue)_".utf8)
            }
        }
    }

    /// Whether a text holds the characters of a made key, whatever stands right before and behind them.
    ///
    /// Also where it holds none: ``occurs(in:)`` is for what is refused, this for what is only left out.
    public static func mayOccur(in text: String) -> Bool {
        let text = text.utf8.span
        for index in text.indices where text[index] == UInt8(ascii: "_") {
            for kind in KeyKind.allCases where isKey(of: kind, at: index, in: text) { return true }
        }
        return false
    }

    /// Whether the kind's name stands before an underscore, and enough for a key behind it.
    private static func isKey(of kind: KeyKind, at underscore: Int, in text: Span<UInt8>) -> Bool {
        let name = kind.rawValue.utf8.span
        let start = underscore - name.count
        guard start >= 0, text.count - underscore > secretLength else { return false }
        for index in name.indices where text[start + index] != name[index] { return false }
        for index in 1...secretLength where !isKeyByte(text[underscore + index]) { return false }
        return true
    }

    /// Characters of 32 bytes in base64url.
    private static let secretLength = (randomByteCount * 4 + 2) / 3

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// What is stored of it.
    public var digest: KeyDigest { KeyDigest(of: text) }
}

extension KeyText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "KeyText(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

extension KeyDigest {
    /// The digest of what a caller presents as its key.
    public init(of text: String) {
        self.init(SHA256.digest(of: Array(text.utf8)))
    }

    /// As for a text, from the bytes of a request.
    public init(of text: Span<UInt8>) {
        self.init(SHA256.digest(of: text))
    }
}
