internal import COpenSSL

/// The TLS of a client, in memory: it handles received bytes and returns bytes to send.
///
/// It has no socket and never waits.
public final class TLSClient {
    private let session: TLSSession
    private var room: [UInt8]
    /// The plain text to send after the handshake.
    private var waiting: [UInt8]

    /// The maximum number of bytes that `receive` takes at once.
    public static let receiveLength = 16 * 1024

    /// - Parameters:
    ///   - data: the bytes to send after the handshake.
    ///   - host: the name or address that the server's certificate must have. Nil accepts any certificate; then any
    ///     server could respond, so the request must contain no secret.
    ///   - roots: a file in PEM with the authorities that may have issued the certificate; nil means the authorities that
    ///     this machine trusts.
    /// - Throws: `TLSError` with the cause `resources` if memory has run out, or `roots` cannot be used.
    public init(sending data: [UInt8], verifying host: String? = nil, roots: String? = nil) throws(TLSError) {
        // The session holds its own reference to the context.
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw TLSError(.resources) }
        defer { unsafe SSL_CTX_free(context) }
        guard let wire = TLSWire(),
            let connection = unsafe tls_over_wire(context, TLSWire.method, wire.pointer, 0)
        else { throw TLSError(.resources) }
        // The context and the connection are alive; OpenSSL copies the names.
        if let host, unsafe tls_verify_peer(context, connection, host, roots) != 1 {
            defer { unsafe SSL_free(connection) }
            throw TLSError(.resources)
        }
        session = unsafe TLSSession(owning: connection, over: wire, keeping: nil)
        waiting = data
        room = [UInt8](repeating: 0, count: Self.receiveLength + TLSEngine.recordRoom)
    }

    /// Whether the client can receive no more.
    public var hasEnded: Bool { session.phase == .closedByPeer || session.phase == .failed }

    /// Whether the server has sent a close_notify; an attacker may have caused any other end.
    public var hasEndedWell: Bool { session.phase == .closedByPeer }

    /// Whether the handshake has succeeded, and TLS has not failed since.
    public var isEstablished: Bool { session.phase == .established || session.phase == .closedByPeer }

    /// OpenSSL's reason for refusing the server's certificate; nil if OpenSSL has not refused it.
    public var certificateProblem: String? { session.phase == .failed ? session.verificationError : nil }

    /// Handles received bytes; the first call passes none.
    ///
    /// - Returns: the plain text in them, and the bytes to send now.
    public func receive(_ bytes: [UInt8]) -> (plain: [UInt8], output: [UInt8]) {
        var output: [UInt8] = []
        let count = session.receive(bytes, count: bytes.count, into: &room, output: &output)
        if session.phase == .established, !waiting.isEmpty {
            _ = session.send(waiting.take(), output: &output)
        }
        return (Array(room[..<count]), output)
    }
}
