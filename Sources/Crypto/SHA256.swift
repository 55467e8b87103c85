/// SHA-256 (FIPS 180-4), computed by OpenSSL.
public enum SHA256 {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    /// The 32 bytes of a hash as four big-endian words.
    public struct Digest: Sendable {
        public let words: (UInt64, UInt64, UInt64, UInt64)

        public init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

        /// Returns nil unless there are 32 bytes.
        public init?(bytes: [UInt8]) {
            guard bytes.count == SHA256.byteCount else { return nil }
            func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
            self.init(words: (word(0), word(8), word(16), word(24)))
        }

        /// The 32 bytes in the usual order of a SHA-256.
        public var bytes: [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(SHA256.byteCount)
            for word in [words.0, words.1, words.2, words.3] {
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
                }
            }
            return bytes
        }
    }

    public static func digest(of message: Span<UInt8>) -> Digest {
        var context = DigestContext()
        context.update(message)
        return context.finish()
    }

    public static func digest(of message: [UInt8]) -> Digest { digest(of: message.span) }
}

extension SHA256.Digest: Hashable {
    /// Compares in constant time, because digests of secrets are compared with it.
    public static func == (left: SHA256.Digest, right: SHA256.Digest) -> Bool {
        let difference =
            (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1)
            | (left.words.2 ^ right.words.2) | (left.words.3 ^ right.words.3)
        return difference == 0
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
