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
