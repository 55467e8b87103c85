internal import COpenSSL

/// The TLS of one connection: it turns received bytes into plain text, and plain text into bytes to send.
///
/// It has no socket and no clock, and never waits. Only one thread uses it: its loop's thread, or the thread
/// that uses its ``TLSClient``. It is `@safe` because this object is the only owner of the OpenSSL
/// connection, and frees it in `deinit`.
@safe final class TLSSession {
    enum Phase: Equatable {
        /// Both sides can send only messages of the handshake.
        case handshake
        case established
        /// The peer has sent a close_notify, and so sends no more.
        case closedByPeer
        /// A side refused the handshake, the peer broke the protocol, or OpenSSL failed; it may have written an alert.
        case failed
    }

    private(set) var phase = Phase.handshake
    private var hasSentCloseNotify = false
    private let connection: OpaquePointer
    /// The memory that the connection's bytes pass through.
    private let wire: TLSWire
    /// The context, which this object keeps alive because the connection's callbacks use it; nil for a client.
    private let context: TLSContext?

    /// Takes ownership of an OpenSSL connection, and keeps its wire and its context alive.
    init(owning connection: OpaquePointer, over wire: TLSWire, keeping context: TLSContext?) {
        unsafe self.connection = connection
        self.context = context
        self.wire = wire
    }

    deinit {
        // This object is the only owner of the connection.
        unsafe SSL_free(connection)
    }

    /// Whether the handshake resumed an earlier session.
    var isResumed: Bool {
        // The connection is alive.
        unsafe SSL_session_reused(connection) == 1
    }

    /// OpenSSL's reason for refusing the peer's certificate; nil if it accepted the certificate or requested none.
    var verificationError: String? {
        // The connection is alive, and the text is a constant of OpenSSL.
        unsafe tls_verification_error(connection).map { unsafe String(cString: $0) }
    }

    /// Continues the handshake with received bytes, and decrypts the whole records among them.
    ///
    /// It consumes all bytes: OpenSSL stores the bytes of an incomplete record.
    ///
    /// - Parameters:
    ///   - bytes: an array that starts with the received bytes.
    ///   - count: the number of received bytes.
    ///   - plain: an array with room for the bytes and one more record; it gets the plain text at its start.
    ///   - output: gets the bytes that TLS itself sends, such as the next part of a handshake.
    /// - Returns: the length of the plain text.
    func receive(_ bytes: [UInt8], count: Int, into plain: inout [UInt8], output: inout [UInt8]) -> Int {
        // Remove errors of other connections, or OpenSSL would report them for this connection.
        ERR_clear_error()
        let length = wire.lend(bytes, count: count) {
            if phase == .handshake { continueHandshake() }
            return phase == .established ? read(into: &plain) : 0
        }
        wire.collect(into: &output)
        return length
    }

    /// Encrypts plain text as whole records, and appends them to the bytes to send.
    ///
    /// - Returns: `false` if the connection can send no more.
    func send(_ plain: [UInt8], output: inout [UInt8]) -> Bool {
        guard phase == .established || phase == .closedByPeer else { return false }
        ERR_clear_error()
        var sent = 0
        while sent < plain.count {
            // OpenSSL reads within the array's memory; one call writes one record.
            let count = unsafe plain.withUnsafeBufferPointer { buffer in
                let rest = unsafe UnsafeBufferPointer(rebasing: buffer[sent...])
                return unsafe SSL_write(connection, rest.baseAddress, Int32(clamping: rest.count))
            }
            wire.collect(into: &output)
            guard count > 0 else {
                fail()
                return false
            }
            sent += Int(count)
        }
        return true
    }

    /// Appends the alert that ends the session (close_notify).
    ///
    /// It does nothing before the handshake has succeeded, after a failure, or in a second call.
    func end(output: inout [UInt8]) {
        guard phase == .established || phase == .closedByPeer, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        ERR_clear_error()
        // The connection is alive, and OpenSSL writes the alert to the wire.
        _ = unsafe SSL_shutdown(connection)
        wire.collect(into: &output)
        ERR_clear_error()
    }

    private func continueHandshake() {
        // The connection is alive.
        let result = unsafe SSL_do_handshake(connection)
        if result == 1 {
            phase = .established
        } else if unsafe SSL_get_error(connection, result) != SSL_ERROR_WANT_READ {
            fail()
        }
    }

    private func read(into plain: inout [UInt8]) -> Int {
        var length = 0
        // SSL_read writes at most the rest of the array's memory.
        unsafe plain.withUnsafeMutableBufferPointer { buffer in
            while length < buffer.count {
                let rest = unsafe UnsafeMutableBufferPointer(rebasing: buffer[length...])
                let count = unsafe SSL_read(connection, rest.baseAddress, Int32(clamping: rest.count))
                guard count > 0 else {
                    recordEnd(count)
                    return
                }
                length += Int(count)
                // Without pending bytes, another call would only allocate a buffer and free it again.
                if wire.isEmpty, unsafe SSL_has_pending(connection) == 0 { return }
            }
            // The array is full. This cannot happen, because it has room for more bytes than were received.
            fail()
        }
        return length
    }

    private func recordEnd(_ result: Int32) {
        // The connection is alive, and `result` is what the last call on it returned.
        switch unsafe SSL_get_error(connection, result) {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: phase = .closedByPeer
        default: fail()
        }
    }

    private func fail() {
        phase = .failed
        ERR_clear_error()
    }
}
