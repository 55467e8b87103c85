internal import Attribution
internal import SQLite
internal import Storage

/// The learnt counters.
extension SQLiteReader {
    func modelSums(of scope: Scope) throws(SQLiteError) -> [CounterKey: Double] {
        var sums: [CounterKey: Double] = [:]
        for family in CounterFamily.allCases where family.belongsToModel {
            let statement = try connection.statement(LearntSQL.ofFamily)
            try statement.forEach(scope.number, Int64(family.rawValue)) { row in
                sums[CounterKey(family, UInt64(bitPattern: row.integer(0)))] = row.real(1)
            }
        }
        return sums
    }

    func learntCounterCount(of scope: Scope, _ family: CounterFamily?) throws(SQLiteError) -> Int {
        guard let family else {
            return try connection.statement(LearntSQL.count).first(scope.number) { Int($0.integer(0)) } ?? 0
        }
        return try connection.statement(LearntSQL.countOfFamily)
            .first(scope.number, Int64(family.rawValue)) { Int($0.integer(0)) } ?? 0
    }

    func openClicks(
        of key: KeySummary.Key,
        before position: RowPosition,
        atMost limit: Int,
        _ body: (IndexRecord) -> Void
    ) throws(SQLiteError) {
        let (scope, hash) = (key.scope.number, key.fingerprint)
        try connection.statement(Self.openClicks)
            .forEach(scope, hash.index, hash.rest, position.clickedAt, position.click, limit) {
                row throws(SQLiteError) in body(try row.record())
            }
    }

    static let openClicks: SQL = """
        SELECT \(IndexRecord.columns) FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3 AND (since, click) < (?4, ?5)
        ORDER BY since DESC, click DESC LIMIT ?6
        """

    /// Returns the scopes that the model has learnt from.
    func learntScopes() throws(SQLiteError) -> [Scope] {
        try connection.statement(LearntSQL.scopes).all { Scope(number: $0.integer(0)) }
    }

    /// Returns nil for a scope that the model has not learnt from.
    func learningEpoch(of scope: Scope) throws(SQLiteError) -> LearningEpoch? {
        try connection.statement(LearntSQL.epoch).first(scope.number) {
            LearningEpoch(
                began: Timestamp(milliseconds: $0.integer(0)),
                landmark: Timestamp(milliseconds: $0.integer(1))
            )
        }
    }
}

extension WriteContext {
    func learn(_ slice: LearntSlice) throws(SQLiteError) {
        let scope = slice.scope.number
        guard let stored = try epoch(for: slice) else { return }
        let add = try connection.statement(LearntSQL.add)
        let change = try connection.statement(LearntSQL.change)
        for (key, sum) in slice.sums {
            let sum = sum * slice.epoch.factor(movingTo: stored.landmark, for: key.family)
            guard sum.isFinite else { continue }
            if slice.room.holds(key.family) {
                try add.run(scope, Int64(key.family.rawValue), key.key, sum)
            } else {
                try change.run(scope, Int64(key.family.rawValue), key.key, sum)
            }
        }
    }

    /// What the stored sums are relative to; nil where they have been forgotten since the slice's were gathered.
    private func epoch(for slice: LearntSlice) throws(SQLiteError) -> LearningEpoch? {
        // Another process may have begun before.
        if let stored = try reader.learningEpoch(of: slice.scope) {
            learnt.noteStored(slice.scope)
            return stored
        }
        guard !learnt.wasStored(slice.scope) else {
            // By another process: what this one knows of the time before goes as well.
            learnt.forget(slice.scope)
            return nil
        }
        try connection.statement(LearntSQL.begin).run(
            slice.scope.number,
            slice.epoch.began.milliseconds,
            slice.epoch.landmark.milliseconds
        )
        return slice.epoch
    }

    /// Nothing was observed later than now: it began under a clock that was ahead.
    func beginEarlier(_ scope: Scope, at moment: Timestamp) throws(SQLiteError) {
        try connection.statement(LearntSQL.beginEarlier).run(scope.number, moment.milliseconds)
    }

    /// Deletes all but the largest counters of a family.
    func keepLargest(_ count: Int, of scope: Scope, _ family: CounterFamily) throws(SQLiteError) {
        try connection.statement(LearntSQL.keepLargest).run(scope.number, Int64(family.rawValue), count)
    }

    /// Deletes some of the counters of a family that are worth nothing any more, or too old to be read.
    ///
    /// Looks at so many after the first key, and gives the last key that it looked at; nil when that was the last there is.
    func fadeCounters(
        of scope: Scope,
        _ family: CounterFamily,
        after first: Int64,
        at moment: Timestamp,
        limit: Int
    ) throws(SQLiteError) -> Int64? {
        guard let epoch = try reader.learningEpoch(of: scope) else { return nil }
        let rows = try connection.statement(LearntSQL.after).all(
            scope.number,
            Int64(family.rawValue),
            first,
            limit
        ) { (key: $0.integer(0), value: $0.real(1)) }
        for row in rows {
            let key = UInt64(bitPattern: row.key)
            guard epoch.hasFaded(row.value, CounterKey(family, key), at: moment) else { continue }
            try connection.statement(LearntSQL.remove).run(scope.number, Int64(family.rawValue), row.key)
        }
        return rows.count < limit ? nil : rows.last?.key
    }

    /// Makes stored sums relative to a later moment, before they grow too large.
    func moveLandmark(of scope: Scope, to landmark: Timestamp) throws(SQLiteError) {
        guard let epoch = try reader.learningEpoch(of: scope) else { return }
        for family in CounterFamily.allCases {
            let factor = epoch.factor(movingTo: landmark, for: family)
            guard factor != 1 else { continue }
            try connection.statement(LearntSQL.scale).run(scope.number, Int64(family.rawValue), factor)
        }
        try connection.statement(LearntSQL.move).run(scope.number, landmark.milliseconds)
    }

    /// Forgets some of what an app's traffic has taught; false when nothing is left.
    func forgetCounters(of scope: Scope, limit: Int) throws(SQLiteError) -> Bool {
        try connection.statement(LearntSQL.removeEpoch).run(scope.number)
        try connection.statement(LearntSQL.removeSome).run(scope.number, limit)
        return connection.changeCount >= Int64(limit)
    }
}

enum LearntSQL {
    static let find: SQL = """
        SELECT value FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key = ?3
        """
    static let ofFamily: SQL = """
        SELECT key, value FROM learnt_counters WHERE scope = ?1 AND family = ?2
        """
    static let epoch: SQL = "SELECT began_at, landmark FROM learning WHERE scope = ?1"
    static let begin: SQL = """
        INSERT INTO learning (scope, began_at, landmark) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING
        """
    static let add: SQL = """
        INSERT INTO learnt_counters (scope, family, key, value) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET value = value + excluded.value
        """
    static let change: SQL = """
        UPDATE learnt_counters SET value = value + ?4 WHERE scope = ?1 AND family = ?2 AND key = ?3
        """
    static let after: SQL = """
        SELECT key, value FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key > ?3 ORDER BY key LIMIT ?4
        """
    static let remove: SQL = """
        DELETE FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key = ?3
        """
    static let scale: SQL = """
        UPDATE learnt_counters SET value = value * ?3 WHERE scope = ?1 AND family = ?2
        """
    static let move: SQL = "UPDATE learning SET landmark = ?2 WHERE scope = ?1"
    static let removeSome: SQL = """
        DELETE FROM learnt_counters WHERE scope = ?1 AND (family, key) IN (
            SELECT family, key FROM learnt_counters WHERE scope = ?1 ORDER BY family, key LIMIT ?2
        )
        """
    static let removeEpoch: SQL = "DELETE FROM learning WHERE scope = ?1"
    static let scopes: SQL = "SELECT scope FROM learning"
    static let beginEarlier: SQL =
        "UPDATE learning SET began_at = ?2 WHERE scope = ?1 AND began_at > ?2"
    static let keepLargest: SQL = """
        DELETE FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key IN (
            SELECT key FROM learnt_counters WHERE scope = ?1 AND family = ?2 ORDER BY value DESC LIMIT -1 OFFSET ?3
        )
        """
    static let count: SQL = "SELECT count(*) FROM learnt_counters WHERE scope = ?1"
    static let countOfFamily: SQL =
        "SELECT count(*) FROM learnt_counters WHERE scope = ?1 AND family = ?2"
}
