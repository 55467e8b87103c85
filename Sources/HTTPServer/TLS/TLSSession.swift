internal import COpenSSL

/// One connection's TLS: received bytes go in, plain text and bytes to be sent come out.
///
/// It has no socket and no clock and never waits; only its loop's thread touches it. Safe: this object is the only
/// owner of the handle, which lives as long as the object.
@safe final class TLSSession {
    enum Phase: Equatable {
        /// Only the handshake itself can be sent or received.
        case handshake
        case established
        /// The peer has said that it sends no more (close_notify).
        case closedByPeer
        /// The peer broke the protocol; an alert about it may have been written.
        case failed
    }

    private(set) var phase = Phase.handshake
    private var hasSentCloseNotify = false
    private let connection: OpaquePointer
    /// The memory that the connection's bytes pass through.
    private let wire: TLSWire
    /// Kept alive because the connection's callbacks use it.
    private let context: TLSContext?

    /// Takes ownership of a connection over the wire, and keeps alive what it needs.
    init(owning connection: OpaquePointer, over wire: TLSWire, keeping context: TLSContext?) {
        unsafe self.connection = connection
        self.context = context
        self.wire = wire
    }

    deinit {
        // This value is its only owner.
        unsafe SSL_free(connection)
    }

    /// Whether the handshake resumed an earlier session.
    var isResumed: Bool {
        // The connection is alive.
        unsafe SSL_session_reused(connection) == 1
    }

    /// Why the peer's certificate was refused, in OpenSSL's words; nil if it was not, or was not requested.
    var verificationError: String? {
        // The connection is alive, and the text is a constant of OpenSSL.
        unsafe tls_verification_error(connection).map { unsafe String(cString: $0) }
    }

    /// Decrypts received bytes, as far as they are whole records.
    ///
    /// It consumes all bytes: OpenSSL stores those of an incomplete record.
    ///
    /// - Parameters:
    ///   - bytes: starts with the received bytes.
    ///   - count: the number of received bytes.
    ///   - plain: has room for the bytes and one more record; the plain text is written to its start.
    ///   - output: gets the bytes that TLS itself sends in response, such as the next part of a handshake.
    /// - Returns: the length of the plain text.
    func receive(_ bytes: [UInt8], count: Int, into plain: inout [UInt8], output: inout [UInt8]) -> Int {
        // OpenSSL would take an error that another connection left behind for one of this connection.
        ERR_clear_error()
        let length = wire.lend(bytes, count: count) {
            if phase == .handshake { continueHandshake() }
            return phase == .established ? read(into: &plain) : 0
        }
        wire.collect(into: &output)
        return length
    }

    /// Appends plain text to the bytes to be sent, as whole records.
    ///
    /// - Returns: `false` when the connection cannot send any more.
    func send(_ plain: [UInt8], output: inout [UInt8]) -> Bool {
        guard phase == .established || phase == .closedByPeer else { return false }
        ERR_clear_error()
        var sent = 0
        while sent < plain.count {
            // OpenSSL reads within the array's memory, and one call writes one record.
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

    /// Appends the alert that ends the session (close_notify), once and if the session's phase allows it.
    func end(output: inout [UInt8]) {
        guard phase == .established || phase == .closedByPeer, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        ERR_clear_error()
        // The connection is alive; the alert goes over the wire.
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
                // Another call would only make OpenSSL allocate a buffer and free it again.
                if wire.isEmpty, unsafe SSL_has_pending(connection) == 0 { return }
            }
            // More plain text than received bytes is impossible.
            fail()
        }
        return length
    }

    private func recordEnd(_ result: Int32) {
        // The connection is alive, and this was its last call.
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
