internal import COpenSSL

/// One SHA-256 computation of OpenSSL's, owned and freed here.
///
/// OpenSSL fails in these calls only when memory is exhausted or the library is broken, which nothing above
/// could mend; a wrong digest would be worse than the end of the process.
///
/// Whoever holds one as `let` can only copy from it, which OpenSSL allows from many threads at once because
/// it takes the source as const (openssl-threads(7)); all that writes is `mutating` and so has it alone. That
/// is what `@unchecked Sendable` rests on. Safe to use, because the pointer is live from `init` to `deinit`.
@safe struct DigestContext: ~Copyable, @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Fetched once: looking the algorithm up by name on each use costs more than hashing a short text.
    // An EVP_MD is immutable after it was fetched and its reference count is atomic (openssl-threads(7)).
    nonisolated(unsafe) private static let algorithm: OpaquePointer = {
        // Both names are literals; a nil context means the library's default.
        guard let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("OpenSSL has no SHA-256: its configuration is broken")
        }
        return unsafe algorithm
    }()

    init() {
        // Takes nothing and returns a context of its own or nil.
        guard let pointer = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL had no memory for a digest")
        }
        unsafe self.pointer = pointer
    }

    deinit {
        // The context was made in `init`, belongs to this value alone, and is used no more.
        unsafe EVP_MD_CTX_free(pointer)
    }

    /// Begins a new message.
    mutating func start() {
        // Both pointers are live: the context is owned here, the algorithm is never freed.
        let status = unsafe EVP_DigestInit_ex2(pointer, Self.algorithm, nil)
        precondition(status == 1, "OpenSSL could not begin a digest")
    }

    /// Goes on from where `other` stands; `other` is only read.
    mutating func start(from other: borrowing DigestContext) {
        // Both contexts are live, and OpenSSL declares the source const.
        let status = unsafe EVP_MD_CTX_copy_ex(pointer, other.pointer)
        precondition(status == 1, "OpenSSL could not copy a digest's state")
    }

    mutating func update(_ bytes: Span<UInt8>) {
        let context = unsafe pointer
        // The buffer is valid for the length of the call, and OpenSSL reads exactly `count` bytes of it.
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
        }
        precondition(status == 1, "OpenSSL could not go on with a digest")
    }

    /// Ends the message.
    ///
    /// The next use begins with `start`.
    mutating func finish() -> SHA256.Digest {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let context = unsafe pointer
        // OpenSSL writes exactly 32 bytes, the size of the four words, which outlive the call.
        let status = unsafe withUnsafeMutableBytes(of: &words) { buffer in
            unsafe EVP_DigestFinal_ex(context, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
        }
        precondition(status == 1, "OpenSSL could not end a digest")
        return SHA256.Digest(
            words: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        )
    }
}
