internal import Attribution
internal import SQLite
internal import Storage

extension WriteContext {
    func write(_ updates: PendingUpdates.Content) throws(SQLiteError) {
        for click in updates.failedDeliveries { try markUndelivered(click) }
        for (key, moment) in updates.keyUses { try noteUse(of: key, at: moment) }
        for (replay, times) in updates.replays {
            try count(.replays, times: times, of: replay.traits, replay.scope, at: replay.hour)
            countCheck(.checks, times: times, from: replay.platform, replay.scope, at: replay.hour)
        }
        try write(updates.checks)
        for (ending, times) in updates.noMatches {
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
