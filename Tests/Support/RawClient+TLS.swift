internal import Glibc

extension RawClient {
    /// Connects and shakes hands.
    ///
    /// - Throws: `Failure.handshake` with what the client has to say when the handshake fails.
    public convenience init(port: UInt16, tls settings: TLSClientSettings) throws {
        try self.init(port: port)
        try startTLS(settings)
    }

    /// Shakes hands on a connection that has sent nothing yet.
    public func beginTLS(_ settings: TLSClientSettings = TLSClientSettings()) throws {
        try startTLS(settings)
    }

    public var tlsVersion: TLSClientSettings.Version? { tls?.version }
    public var cipherName: String { tls?.cipherName ?? "" }
    public var applicationProtocol: String? { tls?.applicationProtocol }
    public var isResumed: Bool { tls?.isResumed ?? false }
    public var serverName: String { tls?.serverName ?? "" }
    /// What another connection may take up; with TLS 1.3 once an answer was read.
    public var tlsSession: SavedTLSSession? { tls?.session }
    /// Whether the server has said that nothing more comes.
    public var receivedCloseNotify: Bool { tls?.receivedCloseNotify ?? false }

    /// Asks for new keys of both directions with what is sent next.
    public func updateKeys() { tls?.updateKeys() }
    /// Sends new keys by themselves, and asks for the server's; whether it still takes them.
    public func sendKeys() -> Bool { tls?.sendKeys() ?? false }
    /// Asks for another handshake within the connection; whether the server agreed.
    public func renegotiate() -> Bool { tls?.renegotiate() ?? false }
    /// Says over TLS that nothing more is sent, and goes on reading.
    public func endTLS() { tls?.end() }
}
