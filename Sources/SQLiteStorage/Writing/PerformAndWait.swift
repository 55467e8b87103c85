internal import Attribution
internal import SQLite
internal import Threads

extension SharedState {
    /// Does a write of the store's own and waits for it, blocking the thread: never called on a loop.
    func performAndWait<Outcome: Sendable>(
        _ body: @escaping PendingWrite<Outcome>.Body
    ) throws(StoreError) -> Outcome {
        let result = ConditionLock<Result<Outcome, StoreError>?>(nil)
        let write = PendingWrite<Outcome>(deadline: .max, body: body) { outcome in
            result.withLock { $0 = outcome }
            result.broadcast()
        }
        queue.append(write, isOurs: true)
        guard let outcome = result.wait(until: nil, { $0 }) else {
            throw StoreError(.defect, "a wait without end ended")
        }
        return try outcome.get()
    }

    /// Writes what the loops have noted so far, and waits until it is on disk, blocking the thread.
    func writeNotesAndWait() throws(StoreError) {
        queueNotes()
        // Writes are done in the order in which they were queued.
        try performAndWait { _ throws(SQLiteError) in .success(()) }
    }
}
