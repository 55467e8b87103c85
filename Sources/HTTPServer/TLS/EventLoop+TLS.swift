internal import Threads

// The functions of a loop for connections over TLS.

extension EventLoop {
    /// Handles received bytes of a connection over TLS.
    ///
    /// - Returns: the next action. For bytes without a whole record or without HTTP, it is `read` until the deadline.
    func opened(_ count: Int, on connection: Connection) -> ConnectionState.Action {
        if let handshake = connection.handshake { return continueHandshake(handshake, count, on: connection) }
        guard let session = connection.tls else {
            return connection.state.received(readBuffer[..<count], at: .now())
        }
        let length = decrypt(count, on: connection, session)
        if length > 0, let tls { return connection.state.received(tls.received[..<length], at: .now()) }
        if let end = endOf(session, connection) { return end }
        // The bytes were messages of TLS, such as key updates. Check the deadline here: with endless key updates, the
        // connection would never wait, and so would never time out.
        return MonotonicTime.now() < connection.state.deadline ? .read : connection.state.timedOut()
    }

    /// Handles received bytes of a handshake.
    ///
    /// - Returns: the next action; `read` if the handshake needs more bytes, or has ended without bytes of a request.
    private func continueHandshake(
        _ handshake: Connection.Handshake,
        _ count: Int,
        on connection: Connection
    ) -> ConnectionState.Action {
        if connection.tls == nil {
            guard !Self.beginsAsHTTP(readBuffer[0]) else {
                connection.handshake = nil
                return connection.state.beganWithoutTLS()
            }
            connection.tls = tls?.accept()
            if connection.tls != nil { memory.changeSessions(by: 1) }
        }
        // Without a session, memory has run out.
        guard let session = connection.tls else { return .close }
        let length = decrypt(count, on: connection, session)
        guard session.phase != .handshake else {
            return MonotonicTime.now() < handshake.deadline ? .read : .close
        }
        return finishHandshake(connection, session, plainCount: length, handshake.turnsAway)
    }

    /// Ends a handshake that succeeded or failed.
    ///
    /// It also handles plain text that arrived with the last bytes of the handshake.
    private func finishHandshake(
        _ connection: Connection,
        _ session: TLSSession,
        plainCount: Int,
        _ turnsAway: Bool
    ) -> ConnectionState.Action {
        // OpenSSL has written the alert with the reason.
        guard session.phase != .failed || plainCount > 0 else { return .close }
        connection.handshake = nil
        counters.handshakes.add(1)
        if session.isResumed { counters.resumedHandshakes.add(1) }
        if turnsAway { return connection.state.turnAway() }
        guard plainCount > 0, let tls else { return .read }
        return connection.state.received(tls.received[..<plainCount], at: .now())
    }

    /// Returns the action for a TLS session that can receive no more bytes; `nil` while the session can receive.
    func endOf(_ session: TLSSession, _ connection: Connection) -> ConnectionState.Action? {
        switch session.phase {
        case .handshake, .established: nil
        case .closedByPeer: connection.state.ended()
        case .failed: .close
        }
    }

    /// Writes the alert that ends the TLS session (close_notify).
    ///
    /// It first waits until the peer has acknowledged every response whose `onDelivery` is set. Many clients never read
    /// the alert, and a client that closes with unread bytes resets the connection. The server would then count the
    /// responses as lost.
    func endTLS(_ connection: Connection) async {
        guard let session = connection.tls else { return }
        if !connection.ledger.isEmpty, await flush(connection) { await settleDeliveries(connection) }
        session.end(output: &connection.output)
    }

    /// Decrypts received bytes of a connection, and returns the length of the plain text in `TLSEngine.received`.
    private func decrypt(_ count: Int, on connection: Connection, _ session: TLSSession) -> Int {
        guard let tls else { return 0 }
        return session.receive(readBuffer, count: count, into: &tls.received, output: &connection.output)
    }

    /// Returns whether a connection's first byte starts a method; a handshake starts with 22 (RFC 8446 §5.1).
    private static func beginsAsHTTP(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }
}
