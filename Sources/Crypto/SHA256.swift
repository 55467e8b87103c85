internal import COpenSSL

/// SHA-256 (FIPS 180-4), computed by OpenSSL.
public enum SHA256 {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    /// The 32 bytes of a hash as four big-endian words.
    public struct Digest: Sendable {
        public let words: (UInt64, UInt64, UInt64, UInt64)

        public init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

        /// Creates a digest from its bytes; nil unless there are 32.
        public init?(bytes: [UInt8]) {
            guard bytes.count == SHA256.byteCount else { return nil }
            func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
            self.init(words: (word(0), word(8), word(16), word(24)))
        }

        /// The 32 bytes in the order of FIPS 180-4.
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
    /// Compares in constant time, because some digests are computed from secrets.
    public static func == (left: SHA256.Digest, right: SHA256.Digest) -> Bool {
        let difference =
            (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1)
            | (left.words.2 ^ right.words.2) | (left.words.3 ^ right.words.3)
        return difference == 0
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// HMAC-SHA256 (RFC 2104) under one key, prepared for many short messages.
///
/// Two hash states depend only on the key. This type computes them once, as RFC 2104 §4 proposes, and copies them for
/// each message.
public struct HMACSHA256: Sendable {
    private static let blockByteCount = 64

    private let inner: DigestContext
    private let outer: DigestContext

    /// Prepares a key, which may have any length; RFC 2104 recommends at least 32 random bytes.
    public init(key: [UInt8]) {
        var block = key.count > Self.blockByteCount ? SHA256.digest(of: key).bytes : key
        block.append(contentsOf: repeatElement(0, count: Self.blockByteCount - block.count))

        inner = Self.state(after: block.map { $0 ^ 0x36 })
        outer = Self.state(after: block.map { $0 ^ 0x5c })
    }

    public func code(for message: Span<UInt8>) -> SHA256.Digest {
        var inner = inner
        inner.update(message)
        var outer = outer
        outer.update(inner.finish())
        return outer.finish()
    }

    public func code(for message: [UInt8]) -> SHA256.Digest { code(for: message.span) }

    private static func state(after block: [UInt8]) -> DigestContext {
        var context = DigestContext()
        context.update(block.span)
        return context
    }
}

/// One SHA-256 computation of OpenSSL as a plain value, which allocates no memory.
///
/// For each first launch, the server hashes two short messages, an app key and a fingerprint. OpenSSL's general
/// interface allocates and frees several objects for each hash, and this takes longer than hashing one or two blocks.
struct DigestContext: Sendable {
    private var state = SHA256_CTX()

    /// Creates a context for a new message.
    init() {
        // OpenSSL initialises the value and stores no pointer to it.
        unsafe afterlink_sha256_start(&state)
    }

    mutating func update(_ bytes: Span<UInt8>) {
        // The buffer is valid during the call, and OpenSSL reads exactly `count` bytes of it.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe afterlink_sha256_update(&state, buffer.baseAddress, buffer.count)
        }
    }

    /// Appends the 32 bytes of a digest to the message.
    mutating func update(_ digest: SHA256.Digest) {
        let words = digest.words
        var bytes = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        // OpenSSL reads exactly the 32 bytes of the four words, which outlive the call.
        unsafe withUnsafeBytes(of: &bytes) { buffer in
            unsafe afterlink_sha256_update(&state, buffer.baseAddress, buffer.count)
        }
    }

    /// Ends the message and returns its digest.
    consuming func finish() -> SHA256.Digest {
        var state = state
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        // OpenSSL writes exactly 32 bytes, the size of the four words, which outlive the call.
        unsafe withUnsafeMutableBytes(of: &words) { buffer in
            unsafe afterlink_sha256_finish(&state, buffer.baseAddress)
        }
        return SHA256.Digest(
            words: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        )
    }
}

/// Returns whether two byte strings are equal, in a time that depends only on their lengths.
///
/// Use it for secrets and for values derived from them (OWASP ASVS 5, 11.2.4). The time of an ordinary comparison
/// reveals how many bytes are equal at the start. The lengths must not be secret.
public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return constantTimeEquals(left.span, right.span)
}

/// Returns whether two spans of bytes are equal, in a time that depends only on their lengths.
public func constantTimeEquals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    // Both buffers are valid during the call and contain `count` bytes each.
    let difference = unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count)
        }
    }
    return difference == 0
}

extension SHA256 {
    /// A digest of a message that arrives in parts.
    public struct Parts: Sendable {
        private var context = DigestContext()

        public init() {}

        public mutating func add(_ bytes: [UInt8]) { context.update(bytes.span) }

        /// The digest of all parts so far.
        public var digest: Digest { context.finish() }
    }
}
