internal import COpenSSL
internal import Synchronization

/// The certificate, the key and the ticket keys of a server that terminates TLS.
///
/// The certificate and the key can be replaced while the server runs.
public final class TLSTermination: Sendable {
    private let ticketKeys = TicketKeys()
    private let current: Mutex<TLSContext>

    /// Creates a termination from a certificate chain and its private key, both in PEM; throws if they cannot be used.
    ///
    /// The server's certificate is the first of the chain.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        let context = try TLSContext(certificatePEM: certificatePEM, keyPEM: keyPEM, ticketKeys: ticketKeys)
        current = Mutex(context)
    }

    /// Uses another certificate from the next handshake on; open connections continue.
    ///
    /// If the certificate is the same as before, clients can still resume their sessions.
    ///
    /// - Returns: whether the certificate differs from the previous one.
    /// - Throws: `TLSError` if the certificate cannot be used; the previous one then stays in use.
    @discardableResult
    public func replace(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) -> Bool {
        let context = try TLSContext(certificatePEM: certificatePEM, keyPEM: keyPEM, ticketKeys: ticketKeys)
        let previous = current.withLock { current in
            defer { current = context }
            return current
        }
        return previous.certificate != context.certificate
    }

    /// The certificate that the server presents in new handshakes.
    public var certificate: CertificateSummary { context.certificate }

    /// The context of new handshakes.
    var context: TLSContext { current.withLock { $0 } }
}

/// A certificate with its key, ready for handshakes; the connections with this certificate share it.
///
/// All loops use the same context: it does not change after its creation, and OpenSSL counts references atomically. A
/// context for each loop would save no time, and the server would have to replace all of them.
final class TLSContext: Sendable {
    private let handle: ContextHandle
    /// The ticket keys, which the context's callback uses; each session keeps its context alive, and so the keys.
    private let ticketKeys: TicketKeys
    let certificate: CertificateSummary

    init(certificatePEM: [UInt8], keyPEM: [UInt8], ticketKeys: TicketKeys) throws(TLSError) {
        let handle = try ContextHandle()
        certificate = try handle.install(certificatePEM, keyPEM)
        unsafe ticketKeys.attach(to: handle.pointer)
        self.handle = handle
        self.ticketKeys = ticketKeys
    }

    /// Starts a handshake as the server; returns `nil` if memory has run out.
    func accept(over wire: TLSWire) -> TLSSession? {
        // The session owns the connection and keeps the wire and the context alive; the method is never freed.
        guard let connection = unsafe tls_over_wire(handle.pointer, TLSWire.method, wire.pointer, 1) else {
            return nil
        }
        return unsafe TLSSession(owning: connection, over: wire, keeping: self)
    }
}

/// The only owner of an `SSL_CTX`.
@safe private struct ContextHandle: ~Copyable, Sendable {
    // Many threads may use an SSL_CTX at the same time if none changes it. No thread changes it after `install`, and
    // its reference count is atomic.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Creates a context with the settings of every server, without a certificate.
    init() throws(TLSError) {
        // The context is new, and this value is its only owner.
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw TLSError(.resources) }
        let lifetime = Int(TicketKeyRing.sessionLifetime.components.seconds)
        guard unsafe tls_configure_server(context, lifetime) == 1 else {
            unsafe SSL_CTX_free(context)
            throw TLSError(.resources)
        }
        unsafe pointer = context
    }

    deinit {
        // Sessions hold their own references.
        unsafe SSL_CTX_free(pointer)
    }

    /// Installs a certificate, its chain and its key.
    func install(_ certificatePEM: [UInt8], _ keyPEM: [UInt8]) throws(TLSError) -> CertificateSummary {
        var reader = try PEMReader(certificatePEM)
        guard let certificate = try reader.nextCertificate() else { throw TLSError(.certificateNotPEM) }
        var keyReader = try PEMReader(keyPEM)
        let key = try keyReader.privateKey()
        // All pointers are valid during the calls, and OpenSSL counts the references that it keeps.
        guard unsafe X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
            throw TLSError(.keyDoesNotFit)
        }
        guard unsafe SSL_CTX_use_certificate(pointer, certificate.pointer) == 1,
            unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
        else { throw TLSError(.certificateUnusable) }
        while let next = try reader.nextCertificate() { try addToChain(next) }
        let summary = certificate.summary
        // A client can resume a session only while the server has the certificate with which the session started. So
        // after an operator replaces a stolen certificate, no client resumes a session that started with it.
        guard
            unsafe SSL_CTX_set_session_id_context(pointer, summary.digest, UInt32(summary.digest.count)) == 1
        else { throw TLSError(.resources) }
        return summary
    }

    private func addToChain(_ certificate: consuming Certificate) throws(TLSError) {
        let released = unsafe certificate.release()
        // The context takes the reference, unless it refuses the certificate.
        guard unsafe tls_add_chain_certificate(pointer, released) == 1 else {
            unsafe X509_free(released)
            throw TLSError(.certificateUnusable)
        }
    }
}
