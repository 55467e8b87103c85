internal import COpenSSL

/// One SHA-256 computation of OpenSSL's as a plain value, which is copied by assignment and allocates no
/// memory.
///
/// A check hashes its key and its fingerprint, a block or two each. OpenSSL's general interface would
/// allocate and free several objects for each of them, which takes longer than the hashing.
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
