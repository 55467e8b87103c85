internal import COpenSSL

/// A self-signed certificate with its key, for one test.
public struct TestCertificate: Sendable {
    public enum KeyKind: Sendable {
        case p256
        case p384
        case rsa(bits: Int32)
    }

    public struct Failure: Error {}

    /// The certificate in PEM.
    public let certificate: [UInt8]
    /// The private key in PEM.
    public let key: [UInt8]

    /// - Parameters:
    ///   - name: the common name.
    ///   - kind: the kind of the key.
    ///   - validFrom: the start of validity, in seconds from now.
    ///   - validUntil: the end of validity, in seconds from now.
    ///   - password: the password that encrypts the key; nil for none.
    /// - Throws: `Failure` if OpenSSL cannot create the certificate or its key.
    public init(
        _ name: String = "localhost",
        _ kind: KeyKind = .p256,
        validFrom: Int = -3600,
        validUntil: Int = 86_400,
        password: String? = nil
    ) throws {
        guard let key = unsafe Self.makeKey(kind), let certificate = unsafe X509_new() else {
            throw Failure()
        }
        defer {
            unsafe EVP_PKEY_free(key)
            unsafe X509_free(certificate)
        }
        // All handles are alive until the end of this function; OpenSSL copies the strings.
        unsafe X509_set_version(certificate, 2)
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int.max))
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), validFrom)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), validUntil)
        unsafe X509_set_pubkey(certificate, key)
        let subject = unsafe X509_get_subject_name(certificate)
        let text = Array(name.utf8)
        unsafe X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, Int32(text.count), -1, 0)
        unsafe X509_set_issuer_name(certificate, subject)
        guard unsafe X509_sign(certificate, key, EVP_sha256()) > 0 else { throw Failure() }
        self.certificate = try unsafe Self.text { unsafe PEM_write_bio_X509($0, certificate) }
        self.key = try unsafe Self.text { output in
            guard let password else {
                return unsafe PEM_write_bio_PrivateKey(output, key, nil, nil, 0, nil, nil)
            }
            let secret = Array(password.utf8)
            let (cipher, count) = unsafe (EVP_aes_256_cbc(), Int32(secret.count))
            return unsafe PEM_write_bio_PrivateKey(output, key, cipher, secret, count, nil, nil)
        }
    }

    static func makeKey(_ kind: KeyKind) -> OpaquePointer? {
        var key: OpaquePointer?
        let type =
            switch kind {
            case .p256, .p384: EVP_PKEY_EC
            case .rsa: EVP_PKEY_RSA
            }
        // This function frees the context; the caller frees the key.
        let context = unsafe EVP_PKEY_CTX_new_id(type, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe EVP_PKEY_keygen_init(context)
        switch kind {
        case .p256: unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
        case .p384: unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp384r1)
        case .rsa(let bits): unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits)
        }
        unsafe EVP_PKEY_keygen(context, &key)
        return unsafe key
    }

    /// Returns the output of an OpenSSL function.
    private static func text(_ write: (OpaquePointer) -> Int32) throws -> [UInt8] {
        guard let output = unsafe BIO_new(BIO_s_mem()) else { throw Failure() }
        defer { unsafe BIO_free(output) }
        guard unsafe write(output) == 1 else { throw Failure() }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe BIO_read(output, &buffer, Int32(buffer.count))
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(Int(count))
        }
    }
}
