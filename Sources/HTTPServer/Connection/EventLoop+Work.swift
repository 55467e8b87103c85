/// Who does what there is to do for connections.
extension EventLoop {
    /// Has a connection served, by a worker that is free or by a new one.
    func assign(_ duty: Worker.Duty) {
        if let worker = workers.take() {
            worker.call(duty)
        } else {
            Task(executorPreference: executor) { await self.work(duty) }
        }
    }

    /// What a worker does all its life: serves a connection until that waits for its peer, or ends it.
    private func work(_ first: Worker.Duty) async {
        let worker = Worker()
        var next: Worker.Duty? = first
        while let duty = next {
            if let connection = table.connections[duty.slot] {
                if await live(connection, from: firstAction(connection, duty.cause)) {
                    park(connection)
                } else {
                    await end(connection)
                }
            }
            guard !isOver else { return }
            workers.add(worker)
            // The waiter made of the continuation is its only owner.
            next = await unsafe withUnsafeContinuation(isolation: self) { worker.waiter = unsafe Waiter($0) }
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
    }

    /// Ends a connection's wait, if it waits.
    func wake(_ connection: Connection, _ wake: Wake) {
        if connection.isParked {
            connection.isParked = false
            table.setDeadline(MonotonicTime(nanoseconds: .max), of: connection.slot)
            assign(Worker.Duty(slot: connection.slot, cause: .woken(wake)))
        } else if let waiter = connection.waiter.take() {
            waiter.resume(wake)
        }
    }
}
