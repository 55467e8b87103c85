internal import Threads

/// Runs connections: asks the state machine for an action, performs it, and passes the result back.
extension EventLoop {
    /// How many bytes of pipelined responses the loop gathers before it sends them.
    private static let maximumGatheredByteCount = 64 * 1024

    /// Ends a connection, once the delivery of its responses is decided.
    func end(_ connection: Connection) async {
        // A peer that never started a handshake has not failed one.
        if connection.handshake != nil, connection.tls != nil { counters.failedHandshakes.add(1) }
        if !connection.ledger.isEmpty {
            endSending(connection)
            await settleDeliveries(connection)
        }
        close(connection)
    }

    /// Runs the connection's actions until it must wait for its peer or close.
    ///
    /// A call that may suspend costs something even if it does not, so that it only awaits what really has to wait.
    ///
    /// - Returns: whether the connection waits for its peer; if not, it must end.
    func serve(_ connection: Connection, from first: ConnectionState.Action) async -> Bool {
        var action = first
        perform: while !connection.isCutOff {
            switch consume action {
            case .read:
                // If no further request is pending, send at the end of the turn: responses that leave together wake
                // their readers once.
                if !connection.maySendLater, !sendNow(connection) {
                    guard await flush(connection) else { break perform }
                }
                if connection.shouldYield { await self.yield(connection) }
                guard let next = receive(connection) else { return !connection.isCutOff }
                action = next
            case .sendContinue:
                action = sendContinue(connection)
            case .respond(let request):
                if connection.output.count >= Self.maximumGatheredByteCount {
                    guard await flush(connection) else { break perform }
                }
                guard let handler = beginResponse(on: connection) else { break perform }
                action = write(await handler.respond(to: request), on: connection)
            case .reject(let rejection):
                action = answer(rejection, on: connection)
            case .linger:
                if connection.tls != nil { await endTLS(connection) }
                if !sendNow(connection) { guard await flush(connection) else { break perform } }
                endSending(connection)
                action = .read
            case .close:
                if connection.tls != nil { await endTLS(connection) }
                if !sendNow(connection) { _ = await flush(connection) }
                break perform
            }
        }
        return false
    }

    /// Counts a request, and returns its handler; `nil` once the loop has given its handler up.
    private func beginResponse(on connection: Connection) -> (any RequestHandler)? {
        counters.requests.add(1)
        if !connection.ledger.isEmpty { acknowledge(connection) }
        if handler != nil, !connection.output.isEmpty { unsent.append(connection) }
        return handler
    }

    private func answer(_ rejection: Rejection, on connection: Connection) -> ConnectionState.Action {
        guard let response = rendered(rejection) else { return .close }
        return write(response, on: connection)
    }

    /// Returns the handler's response to a rejection, with the status and fields that the protocol demands.
    func rendered(_ rejection: Rejection) -> Response? {
        counters.countRejection(rejection.status)
        guard let handler else { return nil }
        var response = handler.respond(to: rejection)
        response.status = rejection.status
        if rejection.kind == .overloaded, !response.hasField("retry-after") {
            response.fields.append(
                FieldLine(name: "Retry-After", value: String(configuration.retryAfterSeconds))
            )
        }
        return response
    }

    private func write(_ response: Response, on connection: Connection) -> ConnectionState.Action {
        let context = connection.state.answering(closing: response.closesConnection)
        if connection.output.capacity == 0, let spare = spareOutputs.popLast() { connection.output = spare }
        if let session = connection.tls {
            guard tls?.write(response, context, on: session, output: &connection.output) == true else {
                response.onDelivery?(.failed)
                return .close
            }
        } else {
            ResponseWriter.write(response, to: &connection.output, date: date.current(), context)
        }
        if let tell = response.onDelivery {
            if connection.ledger.isEmpty { watched.append(connection) }
            connection.ledger.watch(until: connection.writtenEnd, tell)
        }
        return connection.state.answered(at: .now())
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
    /// Reads bytes, or the peer's end, into the state machine, and returns its action; `nil` when there is nothing to
    /// read yet.
    private func receive(_ connection: Connection) -> ConnectionState.Action? {
        if let session = connection.tls, let end = endOf(session, connection) { return end }
        connection.readsInARow += 1
        switch connection.canRead ? read(connection) : .nothing {
        case .bytes(let count):
            guard tls != nil else { return connection.state.received(readBuffer[..<count], at: .now()) }
            return opened(count, on: connection)
        // Without a close_notify before it, an attacker may have caused the end. It cannot make a request look
        // complete, because each request states its own length.
        case .end: return connection.handshake == nil ? connection.state.ended() : .close
        case .nothing:
            connection.readsInARow = 0
            return nil
        case .failed: return .close
        }
    }

    /// Lets other connections run.
    private func yield(_ connection: Connection) async {
        connection.readsInARow = 0
        await Task.yield()
    }

    /// Reads the available bytes into `readBuffer`, and records whether there may be more.
    func read(_ connection: Connection) -> Socket.Received {
        let received = connection.socket.receive(into: &readBuffer)
        switch received {
        case .bytes(let count):
            // A read that did not fill the buffer took everything, unless the end came with it.
            if count < readBuffer.count, !connection.hasEnded { connection.canRead = false }
            counters.receivedBytes.add(count)
        case .end: break
        case .nothing: connection.canRead = false
        case .failed: connection.isBroken = true
        }
        return received
    }

    /// Sends the written bytes, if the socket takes them all at once.
    ///
    /// Returns `false` if it does not; `flush` then continues with the rest.
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

    /// Sends all written bytes, as the socket takes them.
    ///
    /// Returns `false` if the peer is gone, or took no byte for too long.
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
        recycleOutput(of: connection)
    }

    /// Waits until there is room in the socket, as long as the peer takes bytes at all, and while there is memory for
    /// peers that do not.
    private func waitToSend(_ connection: Connection, since acknowledged: inout UInt64) async -> Bool {
        let held = connection.output.capacity + connection.state.inputByteCount
        defer { _ = memory.changeUnsent(from: held, to: 0) }
        guard memory.changeUnsent(from: 0, to: held) else { return false }
        var lastProgress = MonotonicTime.now()
        while true {
            // The kernel reports room only when a good part of the buffer is free, and a slow peer is alive before
            // that. So its progress is checked four times within the timeout, and bytes that it took at first do not
            // count for the whole time.
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

    private func recycleOutput(of connection: Connection) {
        var output = connection.output.take()
        guard output.capacity <= 64 * 1024, spareOutputs.count < 64 else { return }
        output.removeAll(keepingCapacity: true)
        spareOutputs.append(output)
    }

    /// Sends what was written in this turn: the response of a parked connection, or the responses of a connection
    /// whose later, pipelined request waits for its handler.
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
            // A worker waits for room, or ends a broken connection.
            wake(connection, .ready)
        }
    }

    /// Suspends until something happens, or until the sweep finds that the deadline has passed.
    func wait(
        _ connection: Connection,
        for interest: Connection.Interest,
        until deadline: MonotonicTime
    ) async -> Wake {
        guard !connection.isCutOff else { return .cutOff }
        table.setDeadline(deadline, of: connection.slot)
        connection.interest = interest
        // The waiter is the only owner of the continuation.
        let wake = await unsafe withUnsafeContinuation(isolation: self) {
            connection.waiter = unsafe Waiter($0)
        }
        table.setDeadline(MonotonicTime(nanoseconds: .max), of: connection.slot)
        return wake
    }
}

// MARK: - Delivery

extension EventLoop {
    private func acknowledge(_ connection: Connection) {
        connection.ledger.acknowledge(connection.socket.progress.acknowledgedCount)
    }

    /// Decides whether the watched responses of an ended connection were delivered.
    ///
    /// The socket is still open, so that the kernel can be asked. A peer whose acknowledgement or reset is on its way
    /// gets a little time; without either, the responses count as delivered.
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
            guard MonotonicTime.now() < limit,
                await wait(connection, for: .ending, until: limit) != .cutOff
            else {
                connection.ledger.settle(.delivered)
                return
            }
        }
    }
}

extension Response {
    func hasField(_ lowercaseName: String) -> Bool {
        fields.contains { ByteClass.equals(lowercaseName, $0.name) }
    }
}
