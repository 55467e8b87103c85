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

    /// What a worker does all its life.
    ///
    /// Each call that may suspend asks where it is to run. So what comes with every request is called from
    /// here, and a free worker waits here.
    private func work(_ first: Worker.Duty) async {
        let worker = Worker()
        var next: Worker.Duty? = first
        while let duty = next {
            if let connection = table.connections[duty.slot] {
                if case .woken(.ready) = duty.cause {
                    await live(connection, from: .read)
                } else {
                    await serve(connection, duty.cause)
                }
                if !connection.isParked { await end(connection) }
            }
            guard !isOver else { return }
            workers.add(worker)
            // The waiter made of the continuation is its only owner.
            next = await unsafe withUnsafeContinuation(isolation: self) { worker.waiter = unsafe Waiter($0) }
        }
    }

    /// Lets a connection wait for its peer, or for its deadline, without a task; not one that is cut off.
    func park(_ connection: Connection) {
        guard !connection.isCutOff else { return }
        table.setDeadline(connection.state.deadline, of: connection.slot)
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
