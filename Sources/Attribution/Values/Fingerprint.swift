/// The SHA-256 that a client sends instead of what it knows about its device: 32 bytes as four words.
public struct Fingerprint: Hashable, Sendable {
    public let words: (UInt64, UInt64, UInt64, UInt64)

    public init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    public static func == (left: Fingerprint, right: Fingerprint) -> Bool {
        left.words == right.words
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
    }
}
