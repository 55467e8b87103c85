internal import Attribution
internal import SQLite
internal import Storage

/// Reads the learnt counters, from which the matching model is computed.
extension SQLiteReader {
    func modelSums(of scope: Scope) throws(SQLiteError) -> [CounterKey: Double] {
        var sums: [CounterKey: Double] = [:]
        for family in CounterFamily.allCases where family.belongsToModel {
            try connection.statement(Self.sumsOfFamily).forEach(scope.number, Int64(family.rawValue)) { row in
                sums[CounterKey(family, row.word(0))] = row.real(1)
            }
        }
        return sums
    }

    private static let sumsOfFamily: SQL = """
        SELECT key, value FROM learnt_counters WHERE scope = ?1 AND family = ?2
        """

    func learntSum(_ family: CounterFamily, _ key: UInt64, in scope: Scope) throws(SQLiteError) -> Double {
        try connection.statement(Self.learntSum).first(scope.number, Int64(family.rawValue), key) {
            $0.real(0)
        } ?? 0
    }

    static let learntSum: SQL = """
        SELECT value FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key = ?3
        """

    func learntCounterCount(of scope: Scope, _ family: CounterFamily?) throws(SQLiteError) -> Int {
        guard let family else {
            return try connection.statement(Self.counterCount).first(scope.number) { Int($0.integer(0)) } ?? 0
        }
        return try connection.statement(Self.counterCountOfFamily)
            .first(scope.number, Int64(family.rawValue)) { Int($0.integer(0)) } ?? 0
    }

    private static let counterCount: SQL = "SELECT count(*) FROM learnt_counters WHERE scope = ?1"
    private static let counterCountOfFamily: SQL = "\(counterCount) AND family = ?2"

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

    /// Returns the scopes (each an app's live or test traffic) that the model has learnt from.
    func learntScopes() throws(SQLiteError) -> [Scope] {
        try connection.statement("SELECT scope FROM learning").all { Scope(number: $0.integer(0)) }
    }

    /// Returns when the model began to learn from a scope, and the landmark (the time that its sums are relative to).
    ///
    /// Nil if it has not learnt from the scope.
    func learningEpoch(of scope: Scope) throws(SQLiteError) -> LearningEpoch? {
        try connection.statement("SELECT began_at, landmark FROM learning WHERE scope = ?1")
            .first(scope.number) { LearningEpoch(began: $0.time(0), landmark: $0.time(1)) }
    }

    func learntSums(of scope: Scope, _ family: CounterFamily, after key: Int64, atMost limit: Int)
        throws(SQLiteError) -> [(key: Int64, sum: Double)]
    {
        try connection.statement(Self.sumsAfter).all(scope.number, Int64(family.rawValue), key, limit) {
            (key: $0.integer(0), sum: $0.real(1))
        }
    }

    private static let sumsAfter: SQL = """
        SELECT key, value FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key > ?3 ORDER BY key LIMIT ?4
        """
}

extension SQLiteWriter {
    func beginLearning(of scope: Scope, _ epoch: LearningEpoch) throws(SQLiteError) {
        try connection.statement(Self.beginLearning)
            .run(scope.number, epoch.began.milliseconds, epoch.landmark.milliseconds)
    }

    private static let beginLearning: SQL = """
        INSERT INTO learning (scope, began_at, landmark) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING
        """

    func beginEarlier(_ scope: Scope, at time: Timestamp) throws(SQLiteError) {
        try connection.statement("UPDATE learning SET began_at = ?2 WHERE scope = ?1 AND began_at > ?2")
            .run(scope.number, time.milliseconds)
    }

    func add(_ sum: Double, to key: CounterKey, of scope: Scope, hasRoom: Bool) throws(SQLiteError) {
        try connection.statement(hasRoom ? Self.addToCounter : Self.changeCounter)
            .run(scope.number, Int64(key.family.rawValue), key.key, sum)
    }

    private static let addToCounter: SQL = """
        INSERT INTO learnt_counters (scope, family, key, value) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET value = value + excluded.value
        """
    private static let changeCounter: SQL = """
        UPDATE learnt_counters SET value = value + ?4 WHERE scope = ?1 AND family = ?2 AND key = ?3
        """

    func removeCounter(_ key: Int64, _ family: CounterFamily, of scope: Scope) throws(SQLiteError) {
        try connection.statement(Self.removeCounter).run(scope.number, Int64(family.rawValue), key)
    }

    private static let removeCounter: SQL = """
        DELETE FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key = ?3
        """

    func keepLargest(_ count: Int, of scope: Scope, _ family: CounterFamily) throws(SQLiteError) {
        try connection.statement(Self.keepLargest).run(scope.number, Int64(family.rawValue), count)
    }

    private static let keepLargest: SQL = """
        DELETE FROM learnt_counters WHERE scope = ?1 AND family = ?2 AND key IN (
            SELECT key FROM learnt_counters WHERE scope = ?1 AND family = ?2 ORDER BY value DESC LIMIT -1 OFFSET ?3
        )
        """

    func scaleCounters(of scope: Scope, _ family: CounterFamily, by factor: Double) throws(SQLiteError) {
        try connection.statement(Self.scaleCounters).run(scope.number, Int64(family.rawValue), factor)
    }

    private static let scaleCounters: SQL = """
        UPDATE learnt_counters SET value = value * ?3 WHERE scope = ?1 AND family = ?2
        """

    func setLandmark(of scope: Scope, to landmark: Timestamp) throws(SQLiteError) {
        try connection.statement("UPDATE learning SET landmark = ?2 WHERE scope = ?1")
            .run(scope.number, landmark.milliseconds)
    }

    func forgetCounters(of scope: Scope, limit: Int) throws(SQLiteError) -> Bool {
        try connection.statement("DELETE FROM learning WHERE scope = ?1").run(scope.number)
        try connection.statement(Self.removeCounters).run(scope.number, limit)
        return connection.changeCount >= Int64(limit)
    }

    private static let removeCounters: SQL = """
        DELETE FROM learnt_counters WHERE scope = ?1 AND (family, key) IN (
            SELECT family, key FROM learnt_counters WHERE scope = ?1 ORDER BY family, key LIMIT ?2
        )
        """
}
