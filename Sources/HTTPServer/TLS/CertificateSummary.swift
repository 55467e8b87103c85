/// What there is to know of a server's certificate without its key.
public struct CertificateSummary: Sendable, Hashable {
    /// From when on it is valid, in seconds since 1970.
    public let notBefore: Int64

    /// Until when it is valid, in seconds since 1970.
    public let notAfter: Int64

    /// The SHA-256 of the certificate: two with the same one are the same.
    let digest: [UInt8]

    init(notBefore: Int64, notAfter: Int64, digest: [UInt8]) {
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.digest = digest
    }

    /// Reads the first certificate of a PEM file's content, which is the server's own.
    ///
    /// - Throws: `TLSError` with the cause `certificateNotPEM` when there is none.
    public init(pem: [UInt8]) throws(TLSError) {
        var reader = try PEMReader(pem)
        guard let certificate = try reader.nextCertificate() else { throw TLSError(.certificateNotPEM) }
        self = certificate.summary
    }
}
