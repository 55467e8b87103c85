internal import Attribution
internal import SQLite
internal import Storage

extension WriteContext {
    func write(_ updates: PendingUpdates.Content) throws(SQLiteError) {
        for click in updates.failedDeliveries { try markUndelivered(click) }
        for (key, moment) in updates.keyUses { try noteUse(of: key, at: moment) }
        for record in updates.checks.records { try insert(record.facts, record.scope) }
        if updates.checks.unrecorded > 0 {
            try connection.statement(CheckSQL.addProgress).run("unrecorded_checks", updates.checks.unrecorded)
        }
        try totals.add(updates, by: reader)
        storedChecks += Int64(updates.checks.records.count)
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
