internal import Glibc

extension RawClient {
    /// Connects and makes the TLS handshake.
    ///
    /// - Throws: `Failure.handshake` with the client's reason when the handshake fails.
    public convenience init(port: UInt16, tls settings: TLSClientSettings) throws {
        try self.init(port: port)
        try startTLS(settings)
    }

    /// Makes the TLS handshake on a connection that has sent nothing yet.
    public func beginTLS(_ settings: TLSClientSettings = TLSClientSettings()) throws {
        try startTLS(settings)
    }

    public var tlsVersion: TLSClientSettings.Version? { tls?.version }
    public var cipherName: String { tls?.cipherName ?? "" }
    public var applicationProtocol: String? { tls?.applicationProtocol }
    public var isResumed: Bool { tls?.isResumed ?? false }
    public var serverName: String { tls?.serverName ?? "" }
    /// The session that another connection may resume; with TLS 1.3 only after a response was read.
    public var tlsSession: SavedTLSSession? { tls?.session }
    /// Whether the server has ended the session (close_notify).
    public var receivedCloseNotify: Bool { tls?.receivedCloseNotify ?? false }

    /// Requests new keys for both directions with the next bytes that are sent.
    public func updateKeys() { tls?.updateKeys() }
    /// Sends new keys without other data, and requests the server's; returns whether they could be sent.
    public func sendKeys() -> Bool { tls?.sendKeys() ?? false }
    /// Requests another handshake within the connection; returns whether the server agreed.
    public func renegotiate() -> Bool { tls?.renegotiate() ?? false }
    /// Ends the sending side of TLS (close_notify); reading continues.
    public func endTLS() { tls?.end() }
}
