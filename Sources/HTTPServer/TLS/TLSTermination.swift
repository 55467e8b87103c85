internal import COpenSSL
internal import Synchronization

/// Ends TLS at a server: its certificate and key, which can be replaced while it serves, and its ticket keys.
public final class TLSTermination: Sendable {
    private let ticketKeys = TicketKeys()
    private let current: Mutex<TLSContext>

    /// Takes a certificate chain in PEM, the server's own certificate first, and its private key in PEM.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
        let context = try TLSContext(
            certificatePEM: certificatePEM,
            keyPEM: keyPEM,
            ticketKeys: ticketKeys
        )
        current = Mutex(context)
    }

    /// Shows another certificate from the next handshake on; connections that are open go on.
    ///
    /// Sessions can still be resumed where the certificate is the same.
    ///
    /// - Returns: whether the certificate is another one.
    /// - Throws: when it cannot be used; then everything stays as it was.
    @discardableResult
    public func replace(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) -> Bool {
        let context = try TLSContext(
            certificatePEM: certificatePEM,
            keyPEM: keyPEM,
            ticketKeys: ticketKeys
        )
        let previous = current.withLock { current in
            defer { current = context }
            return current
        }
        return previous.certificate != context.certificate
    }

    /// The certificate that new handshakes show.
    public var certificate: CertificateSummary {
        context.certificate
    }

    /// What the next connection is accepted with.
    var context: TLSContext {
        current.withLock { $0 }
    }
}

/// A certificate with its key, ready for handshakes: what the connections of one certificate share.
///
/// One serves all loops: nothing in it changes after it is made, and what OpenSSL counts in it is atomic, so
/// that contexts of their own would save the loops nothing and would have to be changed one by one.
final class TLSContext: Sendable {
    private let handle: ContextHandle
    /// The context's callback calls them; every session keeps its context alive.
    private let ticketKeys: TicketKeys
    let certificate: CertificateSummary

    init(certificatePEM: [UInt8], keyPEM: [UInt8], ticketKeys: TicketKeys) throws(TLSError) {
        let handle = try ContextHandle()
        certificate = try handle.install(certificatePEM, keyPEM)
        unsafe ticketKeys.attach(to: handle.pointer)
        self.handle = handle
        self.ticketKeys = ticketKeys
    }

    /// Begins a handshake as the server; `nil` when memory has run out.
    func accept(over wire: TLSWire) -> TLSSession? {
        // Method, wire and context live as long as the session, which owns the connection.
        guard let connection = unsafe tls_over_wire(handle.pointer, TLSWire.method, wire.pointer, 1) else {
            return nil
        }
        return unsafe TLSSession(owning: connection, over: wire, keeping: self)
    }
}

/// Owns an `SSL_CTX`, which nobody else frees.
@safe private struct ContextHandle: ~Copyable, Sendable {
    // An SSL_CTX may be used by many threads at once as long as none of them changes it, and after `show`
    // nobody does; its reference count is atomic.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// An empty context that insists on what every server of ours does.
    init() throws(TLSError) {
        // The context is new and this value's own.
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { throw TLSError(.resources) }
        let lifetime = Int(TicketKeyRing.sessionLifetime.components.seconds)
        guard unsafe tls_configure_server(context, lifetime) == 1 else {
            unsafe SSL_CTX_free(context)
            throw TLSError(.resources)
        }
        unsafe pointer = context
    }

    deinit {
        // Sessions count their own references.
        unsafe SSL_CTX_free(pointer)
    }

    /// Takes a certificate, its chain and its key.
    func install(_ certificatePEM: [UInt8], _ keyPEM: [UInt8]) throws(TLSError) -> CertificateSummary {
        var reader = try PEMReader(certificatePEM)
        guard let certificate = try reader.nextCertificate() else { throw TLSError(.certificateNotPEM) }
        let key = try PEMReader.key(keyPEM)
        // All pointers are alive for the calls, which count the references that they keep.
        guard unsafe X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
            throw TLSError(.keyDoesNotFit)
        }
        guard unsafe SSL_CTX_use_certificate(pointer, certificate.pointer) == 1,
            unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
        else { throw TLSError(.certificateUnusable) }
        while let next = try reader.nextCertificate() { try addToChain(next) }
        let summary = certificate.summary
        // A session is resumed only under the certificate that it began with: who has replaced one that was
        // stolen does not want it to live on.
        guard
            unsafe SSL_CTX_set_session_id_context(pointer, summary.digest, UInt32(summary.digest.count)) == 1
        else { throw TLSError(.resources) }
        return summary
    }

    private func addToChain(_ certificate: consuming Certificate) throws(TLSError) {
        let released = unsafe certificate.release()
        // The context takes the reference over, unless it refuses.
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
