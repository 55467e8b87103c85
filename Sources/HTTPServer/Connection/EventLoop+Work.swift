internal import Threads

/// Dispatches connection work to the loop's workers.
extension EventLoop {
    /// Lets one worker do the pending work; when that worker must wait, the loop calls this function again.
    ///
    /// - Returns: whether there was any work.
    func dispatchWork() -> Bool {
        guard hasPendingWork else { return false }
        if let worker = workers.take() {
            worker.call(.resume)
        } else {
            Task(executorPreference: executor) { await self.work() }
        }
        return true
    }

    var hasPendingWork: Bool { nextWorkItem < pendingWork.count }

    private func takeWorkItem() -> Worker.WorkItem? {
        guard hasPendingWork else { return nil }
        nextWorkItem += 1
        defer {
            if nextWorkItem == pendingWork.count {
                pendingWork.removeAll(keepingCapacity: true)
                nextWorkItem = 0
            }
        }
        return pendingWork[nextWorkItem - 1]
    }

    /// The body of a worker's task: serves connections until they wait for their peers or end.
    private func work() async {
        let worker = Worker()
        while !hasStopped {
            while let item = takeWorkItem() {
                guard let connection = table.connections[item.slot] else { continue }
                if await serve(connection, from: action(connection, item.cause)) {
                    park(connection)
                } else {
                    await end(connection)
                }
            }
            workers.add(worker)
            // Only the waiter has the continuation.
            let instruction = await unsafe withUnsafeContinuation(isolation: self) {
                worker.waiter = unsafe Waiter($0)
            }
            guard instruction == .resume else { return }
        }
    }

    private func action(_ connection: Connection, _ cause: Worker.WorkItem.Cause) -> ConnectionState.Action {
        switch cause {
        case .accepted(let turnsAway):
            // Over TLS, the server can send the response only after the handshake.
            turnsAway && connection.handshake == nil ? connection.state.turnAway() : .read
        case .woken(.ready): .read
        case .woken(.deadline): connection.handshake == nil ? connection.state.timedOut() : .close
        case .woken(.cutOff): .close
        }
    }

    /// Lets a connection wait for its peer or its deadline without a task.
    private func park(_ connection: Connection) {
        table.setDeadline(connection.deadline, of: connection.slot)
        connection.interest = .reading
        connection.isParked = true
        if !connection.output.isEmpty { unsent.append(connection) }
    }

    /// Ends the wait of a connection; does nothing if the connection does not wait.
    func wake(_ connection: Connection, _ wake: Wake) {
        if connection.isParked {
            connection.isParked = false
            table.setDeadline(MonotonicTime(nanoseconds: .max), of: connection.slot)
            pendingWork.append(Worker.WorkItem(slot: connection.slot, cause: .woken(wake)))
        } else if let waiter = connection.waiter.take() {
            waiter.resume(wake)
        }
    }
}
