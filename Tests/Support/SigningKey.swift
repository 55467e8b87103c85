internal import COpenSSL
internal import Glibc

/// A P-256 key that signs with ECDSA and SHA-256, for one test.
@safe public struct SigningKey: @unchecked Sendable {
    // Sendable: OpenSSL's keys may be used by several threads that do not change them.
    private let key: OpaquePointer

    public struct Failure: Error {}

    public init() throws {
        // OpenSSL allocates the key, which the process keeps until its end.
        guard let key = unsafe TestCertificate.makeKey(.p256) else { throw Failure() }
        unsafe self.key = key
    }

    /// The public key as DER SubjectPublicKeyInfo.
    public var publicKey: [UInt8] {
        // OpenSSL allocates the bytes, which are copied before they are freed.
        var allocated: UnsafeMutablePointer<UInt8>?
        let count = unsafe Int(i2d_PUBKEY(key, &allocated))
        defer { unsafe free(allocated) }
        guard count > 0, let start = unsafe allocated else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Returns the signature of a message in DER.
    public func sign(_ message: [UInt8]) throws -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var (signature, count) = ([UInt8](repeating: 0, count: 128), 128)
        // The arrays are valid during the calls and have the lengths that these get.
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw Failure() }
        return Array(signature.prefix(count))
    }
}
