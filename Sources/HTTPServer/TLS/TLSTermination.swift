internal import COpenSSL
internal import Synchronization

/// Ends TLS at a server: its certificate and key, which can be replaced while it serves, and its ticket keys.
public final class TLSTermination: Sendable {
    private let ticketKeys = TicketKeys()
    private let current: Mutex<TLSContext>

    /// Takes a certificate chain in PEM, the server's own certificate first, and its private key in PEM.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        let context = try TLSContext(certificatePEM: certificatePEM, keyPEM: keyPEM, ticketKeys: ticketKeys)
        current = Mutex(context)
    }

    /// Uses another certificate from the next handshake on; open connections continue.
    ///
    /// Clients can still resume sessions of the same certificate.
    ///
    /// - Returns: whether the certificate differs from the previous one.
    /// - Throws: when it cannot be used; the previous one then stays in use.
    @discardableResult
    public func replace(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) -> Bool {
        let context = try TLSContext(certificatePEM: certificatePEM, keyPEM: keyPEM, ticketKeys: ticketKeys)
        let previous = current.withLock { current in
            defer { current = context }
            return current
        }
        return previous.certificate != context.certificate
    }

    /// The certificate of new handshakes.
    public var certificate: CertificateSummary { context.certificate }

    /// The context for the next connection.
    var context: TLSContext { current.withLock { $0 } }
}

/// A certificate with its key, ready for handshakes; the connections of one certificate share it.
///
/// One context serves all loops: nothing in it changes after its creation, and OpenSSL counts references atomically.
/// A context for each loop would save nothing, and would have to be replaced loop by loop.
final class TLSContext: Sendable {
    private let handle: ContextHandle
    /// The context's callback uses them; every session keeps its context alive.
    private let ticketKeys: TicketKeys
    let certificate: CertificateSummary

    init(certificatePEM: [UInt8], keyPEM: [UInt8], ticketKeys: TicketKeys) throws(TLSError) {
        let handle = try ContextHandle()
        certificate = try handle.install(certificatePEM, keyPEM)
        unsafe ticketKeys.attach(to: handle.pointer)
        self.handle = handle
        self.ticketKeys = ticketKeys
    }

    /// Starts a handshake as the server; returns `nil` when memory has run out.
    func accept(over wire: TLSWire) -> TLSSession? {
        // Method, wire and context live as long as the session, which owns the connection.
        guard let connection = unsafe tls_over_wire(handle.pointer, TLSWire.method, wire.pointer, 1) else {
            return nil
        }
        return unsafe TLSSession(owning: connection, over: wire, keeping: self)
    }
}

/// The only owner of an `SSL_CTX`.
@safe private struct ContextHandle: ~Copyable, Sendable {
    // Many threads may use an SSL_CTX at once as long as none of them changes it, and none does after `install`; its
    // reference count is atomic.
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
        let key = try PEMReader.key(keyPEM)
        // All pointers are alive for the calls, which count the references that they retain.
        guard unsafe X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
            throw TLSError(.keyDoesNotFit)
        }
        guard unsafe SSL_CTX_use_certificate(pointer, certificate.pointer) == 1,
            unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
        else { throw TLSError(.certificateUnusable) }
        while let next = try reader.nextCertificate() { try addToChain(next) }
        let summary = certificate.summary
        // A session is resumed only under the certificate that it started with: after a stolen certificate is
        // replaced, its sessions must not continue.
        guard
            unsafe SSL_CTX_set_session_id_context(pointer, summary.digest, UInt32(summary.digest.count)) == 1
        else { throw TLSError(.resources) }
        return summary
    }

    private func addToChain(_ certificate: consuming Certificate) throws(TLSError) {
        let released = unsafe certificate.release()
        // The context takes over the reference, unless it refuses the certificate.
        guard unsafe tls_add_chain_certificate(pointer, released) == 1 else {
            unsafe X509_free(released)
            throw TLSError(.certificateUnusable)
        }
    }
}

extension PEMReader {
    fileprivate static func key(_ pem: [UInt8]) throws(TLSError) -> PrivateKey {
        var reader = try PEMReader(pem)
        return try reader.privateKey()
    }
}
