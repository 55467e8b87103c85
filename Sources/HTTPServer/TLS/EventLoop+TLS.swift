internal import Threads

// What a loop does differently for connections over TLS.

extension EventLoop {
    /// Handles bytes that were received from a connection over TLS.
    ///
    /// Returns the next action: to read on when they are not a whole record, or contain no HTTP.
    func opened(_ count: Int, on connection: Connection) -> ConnectionState.Action {
        if let handshake = connection.handshake { return continueHandshake(handshake, count, on: connection) }
        guard let session = connection.tls else {
            return connection.state.received(readBuffer[..<count], at: .now())
        }
        let length = decrypt(count, on: connection, session)
        if length > 0, let tls { return connection.state.received(tls.received[..<length], at: .now()) }
        if let end = endOf(session, connection) { return end }
        // TLS may exchange messages of its own. They do not count as a request: with endless key updates a connection
        // would otherwise never wait, and so never reach its deadline.
        return MonotonicTime.now() < connection.state.deadline ? .read : connection.state.timedOut()
    }

    /// Handles bytes of a handshake.
    ///
    /// Returns the next action: to read on while more bytes are needed.
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
        // There is no session when memory has run out.
        guard let session = connection.tls else { return .close }
        let length = decrypt(count, on: connection, session)
        guard session.phase != .handshake else {
            return MonotonicTime.now() < handshake.deadline ? .read : .close
        }
        return finishHandshake(connection, session, plainCount: length, handshake.turnsAway)
    }

    /// Ends a handshake that succeeded or failed, and handles the request that may have come with its last bytes.
    private func finishHandshake(
        _ connection: Connection,
        _ session: TLSSession,
        plainCount: Int,
        _ turnsAway: Bool
    ) -> ConnectionState.Action {
        // The alert with the reason is written.
        guard session.phase != .failed || plainCount > 0 else { return .close }
        connection.handshake = nil
        counters.handshakes.add(1)
        if session.isResumed { counters.resumedHandshakes.add(1) }
        if turnsAway { return connection.state.turnAway() }
        guard plainCount > 0, let tls else { return connection.state.begin() }
        return connection.state.received(tls.received[..<plainCount], at: .now())
    }

    /// Returns the action for a TLS session that can receive no more; `nil` while it can.
    func endOf(_ session: TLSSession, _ connection: Connection) -> ConnectionState.Action? {
        switch session.phase {
        case .handshake, .established: nil
        case .closedByPeer: connection.state.ended()
        case .failed: .close
        }
    }

    /// Writes the alert that ends the TLS session (close_notify).
    ///
    /// Watched responses must be acknowledged first: many clients never read the alert, and a client that closes with
    /// unread bytes resets the connection, which would look as if the response were lost.
    func endTLS(_ connection: Connection) async {
        guard let session = connection.tls else { return }
        if !connection.ledger.isEmpty, await flush(connection) { await settleDeliveries(connection) }
        session.end(output: &connection.output)
    }

    private func decrypt(_ count: Int, on connection: Connection, _ session: TLSSession) -> Int {
        guard let tls else { return 0 }
        return tls.receive(readBuffer, count: count, on: session, output: &connection.output)
    }

    /// Returns whether a first byte starts a method's name; a handshake starts with 22 (RFC 8446, 5.1).
    private static func beginsAsHTTP(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }
}
