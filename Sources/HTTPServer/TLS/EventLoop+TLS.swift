internal import Threads

// What the loop does differently for connections over TLS.

extension EventLoop {
    /// Takes bytes that were received where TLS is spoken.
    ///
    /// Returns what to do about them: to read on when they are no whole record, or say nothing of HTTP.
    func opened(_ count: Int, on connection: Connection) -> ConnectionState.Action {
        if let handshake = connection.handshake { return continueHandshake(handshake, count, on: connection) }
        guard let session = connection.tls else {
            return connection.state.received(readBuffer[..<count], at: .now())
        }
        let length = decrypt(count, on: connection, session)
        if length > 0, let tls { return connection.state.received(tls.received[..<length], at: .now()) }
        if let end = endOf(session, connection) { return end }
        // The protocol may have something to say by itself. What it is kept busy with does not count as a
        // request: new keys without end would otherwise keep a connection from ever waiting for its deadline.
        return MonotonicTime.now() < connection.state.deadline ? .read : connection.state.timedOut()
    }

    /// Takes bytes of a handshake.
    ///
    /// Returns what to do then: to read on while more of them are needed.
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
        // Without a session memory has run out.
        guard let session = connection.tls else { return .close }
        let length = decrypt(count, on: connection, session)
        guard session.phase != .handshake else {
            return MonotonicTime.now() < handshake.deadline ? .read : .close
        }
        return finishHandshake(connection, session, plainCount: length, handshake.turnsAway)
    }

    /// The handshake is over or has failed: takes the request that may have come with its end.
    private func finishHandshake(
        _ connection: Connection,
        _ session: TLSSession,
        plainCount: Int,
        _ turnsAway: Bool
    ) -> ConnectionState.Action {
        // The alert that says why is written.
        guard session.phase != .failed || plainCount > 0 else { return .close }
        connection.handshake = nil
        counters.handshakes.add(1)
        if session.isResumed { counters.resumedHandshakes.add(1) }
        if turnsAway { return connection.state.turnAway() }
        guard plainCount > 0, let tls else { return connection.state.begin() }
        return connection.state.received(tls.received[..<plainCount], at: .now())
    }

    /// What to do when nothing more can come over a connection's TLS; `nil` while something can.
    func endOf(_ session: TLSSession, _ connection: Connection) -> ConnectionState.Action? {
        switch session.phase {
        case .handshake, .established: nil
        case .closedByPeer: connection.state.ended()
        case .failed: .close
        }
    }

    /// Writes the alert that says that nothing more comes.
    ///
    /// Answers whose delivery is watched are acknowledged first. Many clients never read the alert, and to
    /// close with something unread is to reset the connection: that would look as if the answer were lost.
    func endTLS(_ connection: Connection) async {
        guard let session = connection.tls else { return }
        if !connection.ledger.isEmpty, await flush(connection) { await settleDeliveries(connection) }
        session.end(output: &connection.output)
    }

    private func decrypt(_ count: Int, on connection: Connection, _ session: TLSSession) -> Int {
        guard let tls else { return 0 }
        return tls.receive(readBuffer, count: count, on: session, output: &connection.output)
    }

    /// Whether a first byte is that of a method's name; a handshake begins with 22 (RFC 8446, 5.1).
    private static func beginsAsHTTP(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }
}
