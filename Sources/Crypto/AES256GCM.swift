internal import COpenSSL

/// AES-256-GCM (NIST SP 800-38D), computed by OpenSSL: encrypts a message, and authenticates it and other data.
///
/// The key must not seal two messages with the same nonce. With random nonces, it may seal at most 2³² messages
/// (SP 800-38D, 8.3).
public struct AES256GCM: Sendable {
    public static let keyByteCount = 32
    public static let nonceByteCount = 12
    public static let tagByteCount = 16

    private let key: [UInt8]

    /// Creates a cipher from a key; nil unless the key has exactly 32 bytes.
    public init?(key: [UInt8]) {
        guard key.count == Self.keyByteCount else { return nil }
        self.key = key
    }

    /// Encrypts a message; ends the process if OpenSSL fails.
    ///
    /// - Parameters:
    ///   - message: the bytes to encrypt.
    ///   - data: bytes that are authenticated and not part of the result; ``open(_:authenticating:)`` needs them.
    ///   - nonce: 12 bytes that this key has not used before.
    /// - Returns: the nonce, the encrypted message, which is as long as the message, and the tag of 16 bytes.
    public func seal(
        _ message: [UInt8],
        authenticating data: [UInt8],
        nonce: [UInt8] = SystemRandom.bytes(nonceByteCount)
    ) -> [UInt8] {
        precondition(nonce.count == Self.nonceByteCount, "a nonce has 12 bytes")
        var tag = [UInt8](repeating: 0, count: Self.tagByteCount)
        let encrypted = transform(message, data, nonce, &tag, encrypts: true)
        precondition(encrypted != nil, "OpenSSL could not encrypt, for want of memory or of the cipher")
        return nonce + (encrypted ?? []) + tag
    }

    /// Decrypts a result of ``seal(_:authenticating:nonce:)``; nil if the key, the data or any byte differs, or if
    /// OpenSSL fails.
    public func open(_ sealed: [UInt8], authenticating data: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.nonceByteCount + Self.tagByteCount else { return nil }
        let nonce = Array(sealed.prefix(Self.nonceByteCount))
        var tag = Array(sealed.suffix(Self.tagByteCount))
        let encrypted = Array(sealed.dropFirst(Self.nonceByteCount).dropLast(Self.tagByteCount))
        return transform(encrypted, data, nonce, &tag, encrypts: false)
    }

    /// Encrypts and writes the tag, or decrypts and compares the tag; nil if the tag differs or OpenSSL fails.
    private func transform(
        _ message: [UInt8],
        _ data: [UInt8],
        _ nonce: [UInt8],
        _ tag: inout [UInt8],
        encrypts: Bool
    ) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: message.count)
        // The arrays are valid during the call. Each has the fixed length that the function expects, or is passed with
        // its length.
        let isDone = unsafe afterlink_aes256_gcm(
            encrypts ? 1 : 0,
            key,
            nonce,
            data,
            data.count,
            message,
            message.count,
            &output,
            &tag
        )
        return isDone == 1 ? output : nil
    }
}
