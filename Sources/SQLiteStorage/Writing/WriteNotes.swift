internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

extension SharedState {
    /// Queues the writing of what the loops have noted.
    ///
    /// It has no deadline: it is done, or what it took is put back.
    func queueNotes() {
        // One that waits takes along what is noted until its turn comes.
        guard beginQueuingNotes() else { return }
        let drained = DrainedNotes()
        let write = PendingWrite<Void>(
            deadline: .max,
            body: { context throws(SQLiteError) in
                self.endQueuingNotes()
                // Done over, the write begins with what it took before.
                try context.write(drained.take(from: self))
                return .success(())
            },
            completion: { result in
                switch result {
                case .success: self.noteDeliveriesMarked(drained.content.failedDeliveries.count)
                case .failure:
                    self.endQueuingNotes()
                    self.restore(drained.content)
                }
            }
        )
        queue.append(write, isOurs: true)
    }
}

/// What a write took from the loops' notes, kept until it is on disk.
private final class DrainedNotes: Sendable {
    private let drained = ConditionLock(PendingUpdates.Content())

    var content: PendingUpdates.Content { drained.withLock { $0 } }

    func take(from shared: SharedState) -> PendingUpdates.Content {
        let more = shared.drainNotes()
        return drained.withLock { content in
            content.merge(more)
            return content
        }
    }
}

extension WriteContext {
    func write(_ notes: PendingUpdates.Content) throws(SQLiteError) {
        for click in notes.failedDeliveries { try markUndelivered(click) }
        for (key, moment) in notes.keyUses { try noteUse(of: key, at: moment) }
        for (replay, times) in notes.replays {
            try count(.replays, times: times, of: replay.traits, replay.scope, at: replay.hour)
            countCheck(.checks, times: times, from: replay.platform, replay.scope, at: replay.hour)
        }
        try write(notes.checks)
        for (ending, times) in notes.noMatches {
            countCheck(.checks, times: times, from: ending.platform, ending.scope, at: ending.hour)
            countCheck(
                .noMatch(ending.reason),
                times: times,
                from: ending.platform,
                ending.scope,
                at: ending.hour
            )
            let launch = ending.launch ?? CountedLaunch(platform: ending.platform)
            drift.add(DriftCount(trials: times), of: launch.group, in: ending.scope, at: ending.hour)
        }
        drift.flush()
    }

    /// To the minute: a key in use costs a write a minute, not one for each request.
    private func noteUse(of key: KeyID, at moment: Timestamp) throws(SQLiteError) {
        let minute = moment.milliseconds - moment.milliseconds % 60_000
        try connection.statement(Self.noteUse).run(key.high, key.low, minute)
        if connection.changeCount > 0 { changesDirectory = true }
    }

    static let noteUse: SQL = """
        UPDATE keys SET last_used_at = ?3
        WHERE id_high = ?1 AND id_low = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)
        """
}
