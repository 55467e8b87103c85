internal import COpenSSL

/// Reads certificates and keys from a PEM text (RFC 7468) one by one.
///
/// It is `@safe`, like the next two types, because only the value itself uses and frees its OpenSSL object.
@safe struct PEMReader: ~Copyable {
    private let source: OpaquePointer

    init(_ bytes: [UInt8]) throws(TLSError) {
        // This value owns the source. BIO_write copies the bytes into it.
        guard let source = unsafe BIO_new(BIO_s_mem()) else { throw TLSError(.resources) }
        unsafe self.source = source
        _ = unsafe BIO_write(source, bytes, Int32(clamping: bytes.count))
        ERR_clear_error()
    }

    deinit {
        // This value is the only owner of the source.
        _ = unsafe BIO_free(source)
    }

    /// Returns the next certificate; `nil` after the last one, and throws `certificateNotPEM` for a damaged one.
    mutating func nextCertificate() throws(TLSError) -> Certificate? {
        // The source is alive, and the new value owns the certificate. Without the callback, OpenSSL would ask the
        // terminal for the password of an encrypted certificate.
        if let certificate = unsafe PEM_read_bio_X509_AUX(source, nil, { _, _, _, _ in -1 }, nil) {
            return unsafe Certificate(owning: certificate)
        }
        let isEnd = tls_error_is_end_of_pem(ERR_peek_last_error()) != 0
        guard isEnd else { throw TLSError(.certificateNotPEM) }
        ERR_clear_error()
        return nil
    }

    /// Returns the first private key, after any other PEM blocks.
    ///
    /// - Throws: `keyEncrypted` if OpenSSL needs a password, `keyNotPEM` if there is no key or it is damaged.
    mutating func privateKey() throws(TLSError) -> PrivateKey {
        var passwordWasWanted = false
        // The flag is valid during the call, which keeps no pointer to it.
        let key = unsafe withUnsafeMutablePointer(to: &passwordWasWanted) { flag in
            unsafe PEM_read_bio_PrivateKey(
                source,
                nil,
                { _, _, _, flag in
                    unsafe flag?.assumingMemoryBound(to: Bool.self).pointee = true
                    return -1
                },
                flag
            )
        }
        guard let key = unsafe key else { throw TLSError(passwordWasWanted ? .keyEncrypted : .keyNotPEM) }
        return unsafe PrivateKey(owning: key)
    }
}

/// An X.509 certificate of OpenSSL.
@safe struct Certificate: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit {
        // This value is the only owner of the certificate.
        unsafe X509_free(pointer)
    }

    /// Gives up ownership: the caller must free the pointer.
    consuming func release() -> OpaquePointer {
        let pointer = unsafe pointer
        discard self
        return unsafe pointer
    }

    var summary: CertificateSummary {
        // The times belong to the certificate, which is alive during the calls.
        let start = unsafe tls_seconds(X509_get0_notBefore(pointer))
        let end = unsafe tls_seconds(X509_get0_notAfter(pointer))
        return CertificateSummary(notBefore: start, notAfter: end, digest: digest)
    }

    /// The SHA-256 of the certificate's encoding, which identifies the certificate.
    private var digest: [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        // X509_digest writes 32 bytes, the length of the array.
        _ = unsafe X509_digest(pointer, EVP_sha256(), &digest, &count)
        return digest
    }
}

/// A private key of OpenSSL.
@safe struct PrivateKey: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit {
        // This value is the only owner of the key.
        unsafe EVP_PKEY_free(pointer)
    }
}

/// The validity and the digest of a server's certificate.
public struct CertificateSummary: Sendable, Hashable {
    /// The start of the validity, in seconds since 1970.
    public let notBefore: Int64

    /// The end of the validity, in seconds since 1970.
    public let notAfter: Int64

    /// The SHA-256 of the certificate, which identifies it.
    let digest: [UInt8]
}

extension CertificateSummary {
    /// Parses the first certificate of a PEM file, which is the server's certificate.
    ///
    /// - Throws: `TLSError`, usually with the cause `certificateNotPEM` because there is no certificate or it is
    ///   damaged.
    public init(pem: [UInt8]) throws(TLSError) {
        var reader = try PEMReader(pem)
        guard let certificate = try reader.nextCertificate() else { throw TLSError(.certificateNotPEM) }
        self = certificate.summary
    }
}

/// The reason why OpenSSL cannot use a certificate with its key, or cannot set up a client.
public struct TLSError: Error, Sendable, Hashable {
    public enum Cause: Sendable, Hashable, CaseIterable {
        /// The certificate file contains no certificate in PEM, or a damaged one.
        case certificateNotPEM
        /// OpenSSL refuses a certificate of the chain, for example because of a weak key or an outdated signature.
        case certificateUnusable
        /// The key file contains no private key in PEM, or a damaged one.
        case keyNotPEM
        /// The private key is encrypted, and the server asks for no password.
        case keyEncrypted
        /// The private key belongs to another certificate.
        case keyDoesNotFit
        /// OpenSSL ran out of memory, or does not accept the required settings.
        case resources
    }

    public let cause: Cause

    /// OpenSSL's message; empty if there is none.
    public let detail: String

    /// Creates an error with OpenSSL's last message as the detail.
    ///
    /// It empties OpenSSL's queue of errors, so that later calls do not report them.
    init(_ cause: Cause) {
        self.cause = cause
        // The text is a constant of OpenSSL.
        detail =
            unsafe ERR_reason_error_string(ERR_peek_last_error()).map { unsafe String(cString: $0) } ?? ""
        ERR_clear_error()
    }
}
