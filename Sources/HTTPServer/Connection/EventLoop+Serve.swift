internal import Threads

/// Runs connections: takes an action from the state machine, performs it, and passes the result back.
extension EventLoop {
    /// The number of bytes of pipelined responses that the loop gathers before it sends them.
    private static let maximumGatheredByteCount = 64 * 1024

    /// Reports the delivery of all responses of a connection, and then ends the connection.
    func end(_ connection: Connection) async {
        // Without a session, no handshake has started.
        if connection.handshake != nil, connection.tls != nil { counters.failedHandshakes.add(1) }
        if !connection.ledger.isEmpty {
            endSending(connection)
            await settleDeliveries(connection)
        }
        close(connection)
    }

    /// Runs the connection's actions until it must wait for its peer or close.
    ///
    /// An `await` takes time even if the call does not suspend. So this function awaits only where it may have to wait.
    ///
    /// - Returns: `true` if the connection waits for its peer, `false` if it must end.
    func serve(_ connection: Connection, from first: ConnectionState.Action) async -> Bool {
        var action = first
        perform: while !connection.isCutOff {
            switch consume action {
            case .read:
                // If no further input is pending, send at the end of the turn. A client with several connections then
                // gets their responses together and wakes only once.
                if !connection.maySendLater, !sendNow(connection) {
                    guard await flush(connection) else { break perform }
                }
                if connection.shouldYield {
                    connection.readsInARow = 0
                    await Task.yield()
                }
                guard let next = receive(connection) else { return !connection.isCutOff }
                action = next
            case .sendContinue: action = sendContinue(connection)
            case .respond(let request):
                if connection.output.count >= Self.maximumGatheredByteCount {
                    guard await flush(connection) else { break perform }
                }
                guard let handler = beginResponse(on: connection) else { break perform }
                let response = await handler.respond(to: request)
                if let stream = response.stream {
                    action = await send(stream, of: response, on: connection)
                } else {
                    action = write(response, on: connection)
                }
            case .reject(let rejection):
                action = rendered(rejection).map { write($0, on: connection) } ?? .close
            case .linger:
                if connection.tls != nil { await endTLS(connection) }
                if !sendNow(connection) { guard await flush(connection) else { break perform } }
                endSending(connection)
                action = .read
            case .close:
                guard !connection.isBroken else { break perform }
                if connection.tls != nil { await endTLS(connection) }
                if !sendNow(connection) { _ = await flush(connection) }
                break perform
            }
        }
        return false
    }

    /// Counts a request, reports acknowledged responses, and returns the handler; `nil` after the loop has stopped.
    private func beginResponse(on connection: Connection) -> (any RequestHandler)? {
        counters.requests.add(1)
        if !connection.ledger.isEmpty {
            connection.ledger.acknowledge(connection.socket.progress.acknowledgedCount)
        }
        if handler != nil, !connection.output.isEmpty { unsent.append(connection) }
        return handler
    }

    /// Counts a rejection, and returns the handler's response to it; `nil` after the loop has stopped.
    ///
    /// The response gets the rejection's status. If the rejection is `overloaded`, the response also gets a
    /// `Retry-After`, unless the handler has set one.
    func rendered(_ rejection: Rejection) -> Response? {
        counters.countRejection(rejection.status)
        guard let handler else { return nil }
        var response = handler.respond(to: rejection)
        response.status = rejection.status
        let hasRetryAfter = response.fields.contains { ByteClass.equals("retry-after", $0.name) }
        if rejection.kind == .overloaded, !hasRetryAfter {
            let seconds = String(configuration.retryAfterSeconds)
            response.fields.append(FieldLine(name: "Retry-After", value: seconds))
        }
        return response
    }

    private func write(_ response: Response, on connection: Connection) -> ConnectionState.Action {
        let context = connection.state.answering(closing: response.closesConnection)
        guard append(response, context, to: connection) else {
            response.onDelivery?(.failed)
            return .close
        }
        if let report = response.onDelivery {
            if !connection.isWatched {
                connection.isWatched = true
                watched.append(table.token(connection.slot))
            }
            connection.ledger.watch(until: connection.writtenEnd, report)
        }
        return connection.state.answered(at: .now())
    }

    /// Appends a response to the bytes to send; returns `false` if the TLS session can send no more.
    func append(_ response: Response, _ context: ResponseWriter.Context, to connection: Connection) -> Bool {
        if connection.output.capacity == 0, let spare = spareOutputs.popLast() { connection.output = spare }
        if let session = connection.tls {
            return tls?.write(response, context, on: session, output: &connection.output) == true
        }
        ResponseWriter.write(response, to: &connection.output, date: date.current(), context)
        return true
    }

    private func sendContinue(_ connection: Connection) -> ConnectionState.Action {
        if let session = connection.tls {
            return session.send(ResponseWriter.interimContinue, output: &connection.output) ? .read : .close
        }
        connection.output.append(contentsOf: ResponseWriter.interimContinue)
        return .read
    }

    private func endSending(_ connection: Connection) {
        guard !connection.hasEndedSending else { return }
        connection.hasEndedSending = true
        connection.socket.endSending()
    }
}

// MARK: - Reading and writing

extension EventLoop {
    /// Reads once, and passes the bytes, or the end of the input, to the state machine.
    ///
    /// - Returns: the next action; `close` after a failure, `nil` if there is nothing to read yet.
    private func receive(_ connection: Connection) -> ConnectionState.Action? {
        if let session = connection.tls, let end = endOf(session, connection) { return end }
        connection.readsInARow += 1
        switch connection.canRead ? read(connection) : .nothing {
        case .bytes(let count):
            guard tls != nil else { return connection.state.received(readBuffer[..<count], at: .now()) }
            return opened(count, on: connection)
        // Over TLS, an attacker may cause an end without a close_notify. Such an end cannot make a request look
        // complete, because each request states its length.
        case .end: return connection.handshake == nil ? connection.state.ended() : .close
        case .nothing:
            connection.readsInARow = 0
            return nil
        case .failed: return .close
        }
    }

    /// Reads the available bytes into `readBuffer`, and records whether there may be more.
    func read(_ connection: Connection) -> Socket.Received {
        let received = connection.socket.receive(into: &readBuffer)
        switch received {
        case .bytes(let count):
            // A read that did not fill the buffer took all bytes. Only the end of the input can remain.
            if count < readBuffer.count, !connection.hasEnded { connection.canRead = false }
            counters.receivedBytes.add(count)
        case .end: break
        case .nothing: connection.canRead = false
        case .failed: connection.isBroken = true
        }
        return received
    }

    /// Sends the written bytes without waiting.
    ///
    /// - Returns: whether the socket took all of them; if not, `flush` sends the remaining ones.
    private func sendNow(_ connection: Connection) -> Bool {
        guard !connection.output.isEmpty else { return true }
        guard connection.sentCount == 0, connection.canWrite,
            case .bytes(let count) = connection.socket.send(connection.output, from: 0)
        else { return false }
        connection.sentCount = count
        counters.sentBytes.add(count)
        guard count == connection.output.count else { return false }
        allSent(connection)
        return true
    }

    /// Sends all written bytes, and waits while the socket has no room.
    ///
    /// - Returns: `false` if the connection is broken, or ``waitToSend(_:since:)`` returned `false`.
    func flush(_ connection: Connection) async -> Bool {
        guard !connection.output.isEmpty else { return true }
        guard !connection.isBroken else { return false }
        var acknowledged = connection.socket.progress.acknowledgedCount
        while connection.sentCount < connection.output.count {
            switch connection.socket.send(connection.output, from: connection.sentCount) {
            case .bytes(let count):
                connection.sentCount += count
                counters.sentBytes.add(count)
            case .failed:
                connection.isBroken = true
                return false
            case .full:
                connection.canWrite = false
                guard await waitToSend(connection, since: &acknowledged) else {
                    connection.isBroken = true
                    return false
                }
            }
        }
        allSent(connection)
        return true
    }

    private func allSent(_ connection: Connection) {
        connection.totalSent += UInt64(connection.output.count)
        connection.sentCount = 0
        var output = connection.output.take()
        guard output.capacity <= 64 * 1024, spareOutputs.count < 64 else { return }
        output.removeAll(keepingCapacity: true)
        spareOutputs.append(output)
    }

    /// Waits until there is room in the socket.
    ///
    /// - Returns: `false` if the connection is cut off, if the peer acknowledged no byte for `timeouts.write`, or if
    ///   unsent responses hold too much memory.
    private func waitToSend(_ connection: Connection, since acknowledged: inout UInt64) async -> Bool {
        let held = connection.output.capacity + connection.state.inputByteCount
        defer { _ = memory.change(.unsent, from: held, to: 0) }
        guard memory.change(.unsent, from: 0, to: held) else { return false }
        var lastProgress = MonotonicTime.now()
        while true {
            // The kernel reports room only when a large part of the buffer is free, and a slow peer takes bytes before
            // that. So the loop reads the peer's progress four times within the timeout. If it read the progress once,
            // a peer that takes bytes early and then stops could keep the connection for twice the timeout.
            let limit = MonotonicTime.now().advanced(byNanoseconds: timeouts.write / 4)
            switch await wait(connection, for: .writing, until: limit) {
            case .ready: return true
            case .cutOff: return false
            case .deadline:
                let (now, count) = (MonotonicTime.now(), connection.socket.progress.acknowledgedCount)
                if count > acknowledged { (acknowledged, lastProgress) = (count, now) }
                guard now.nanoseconds(since: lastProgress) < timeouts.write else { return false }
            }
        }
    }

    /// Sends the bytes that the loop has written for a connection in this turn.
    ///
    /// The connection is parked (it waits for its peer without a task), or a handler has its next request.
    func sendGathered(_ connection: Connection) {
        guard connection.sentCount < connection.output.count, connection.waiter == nil else { return }
        if connection.canWrite {
            switch connection.socket.send(connection.output, from: connection.sentCount) {
            case .bytes(let count):
                connection.sentCount += count
                counters.sentBytes.add(count)
            case .full: connection.canWrite = false
            case .failed: connection.isBroken = true
            }
        }
        guard connection.isParked else { return }
        if connection.sentCount == connection.output.count {
            allSent(connection)
        } else {
            // A worker then waits for room, or ends the broken connection.
            wake(connection, .ready)
        }
    }

    /// Suspends until an event, the deadline or the end of a stop's grace period wakes the connection.
    func wait(
        _ connection: Connection,
        for interest: Connection.Interest,
        until deadline: MonotonicTime
    ) async -> Wake {
        guard !connection.isCutOff else { return .cutOff }
        table.setDeadline(deadline, of: connection.slot)
        connection.interest = interest
        // Only the waiter has the continuation.
        let wake = await unsafe withUnsafeContinuation(isolation: self) {
            connection.waiter = unsafe Waiter($0)
        }
        table.setDeadline(MonotonicTime(nanoseconds: .max), of: connection.slot)
        return wake
    }
}

// MARK: - Delivery

extension EventLoop {
    /// Reports whether the responses with `onDelivery` of an ended connection were delivered.
    ///
    /// The socket stays open meanwhile, because the kernel counts acknowledged bytes only for open sockets. If neither
    /// an acknowledgement nor a reset arrives within `deliveryWatch`, or before a stop's grace period ends, the
    /// responses count as delivered.
    func settleDeliveries(_ connection: Connection) async {
        let limit = MonotonicTime.now().advanced(byNanoseconds: timeouts.deliveryWatch)
        while true {
            let progress = connection.socket.progress
            connection.ledger.acknowledge(progress.acknowledgedCount)
            if connection.ledger.isEmpty { return }
            guard !connection.isBroken, !progress.isClosed else {
                connection.ledger.settle(.failed)
                return
            }
            guard MonotonicTime.now() < limit, await wait(connection, for: .ending, until: limit) != .cutOff
            else {
                connection.ledger.settle(.delivered)
                return
            }
        }
    }
}
