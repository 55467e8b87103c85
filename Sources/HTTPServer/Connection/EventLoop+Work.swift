internal import Threads

/// Who does what there is to do for connections.
extension EventLoop {
    /// Has what there is to do done by one worker, until it has to wait in the middle of it, and then by another.
    ///
    /// - Returns: whether there is anything to do.
    func callWorker() -> Bool {
        guard hasDuties else { return false }
        if let worker = workers.take() {
            worker.call(.goOn)
        } else {
            Task(executorPreference: executor) { await self.work() }
        }
        return true
    }

    var hasDuties: Bool { nextDuty < duties.count }

    private func takeDuty() -> Worker.Duty? {
        guard hasDuties else { return nil }
        nextDuty += 1
        defer {
            if nextDuty == duties.count {
                duties.removeAll(keepingCapacity: true)
                nextDuty = 0
            }
        }
        return duties[nextDuty - 1]
    }

    /// What a worker does all its life: serves connections until they wait for their peers, or end.
    private func work() async {
        let worker = Worker()
        while !isOver {
            while let duty = takeDuty() {
                guard let connection = table.connections[duty.slot] else { continue }
                if await live(connection, from: firstAction(connection, duty.cause)) {
                    park(connection)
                } else {
                    await end(connection)
                }
            }
            workers.add(worker)
            // The waiter made of the continuation is its only owner.
            let order = await unsafe withUnsafeContinuation(isolation: self) {
                worker.waiter = unsafe Waiter($0)
            }
            guard order == .goOn else { return }
        }
    }

    private func firstAction(_ connection: Connection, _ cause: Worker.Duty.Cause) -> ConnectionState.Action {
        switch cause {
        case .accepted(let turnsAway):
            // Over TLS it can be said only after the handshake.
            turnsAway && connection.handshake == nil ? connection.state.turnAway() : connection.state.begin()
        case .woken(.ready): .read
        case .woken(.deadline): connection.handshake == nil ? connection.state.timedOut() : .close
        case .woken(.cutOff): .close
        }
    }

    /// Lets a connection wait for its peer, or for its deadline, without a task.
    private func park(_ connection: Connection) {
        table.setDeadline(connection.deadline, of: connection.slot)
        connection.interest = .reading
        connection.isParked = true
        if !connection.output.isEmpty { unsent.append(connection) }
    }

    /// Ends a connection's wait, if it waits.
    func wake(_ connection: Connection, _ wake: Wake) {
        if connection.isParked {
            connection.isParked = false
            table.setDeadline(MonotonicTime(nanoseconds: .max), of: connection.slot)
            duties.append(Worker.Duty(slot: connection.slot, cause: .woken(wake)))
        } else if let waiter = connection.waiter.take() {
            waiter.resume(wake)
        }
    }
}
