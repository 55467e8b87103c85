#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Writes what the matching model has learnt.
extension PostgreSQLWriter {
    func beginLearning(of scope: Scope, _ epoch: LearningEpoch) throws(PostgreSQLError) {
        let (began, landmark) = (epoch.began.milliseconds, epoch.landmark.milliseconds)
        guard try batch.run(Self.begin, scope.number, began, landmark).affectedCount > 0 else {
            // The sums are relative to this server's landmark, so the batch is done again with the other
            // server's landmark.
            throw PostgreSQLError(.serializationFailure, "Another server has begun to learn.")
        }
        batch.rows.epochs.removeValue(forKey: scope)
    }

    func beginEarlier(_ scope: Scope, at time: Timestamp) throws(PostgreSQLError) {
        batch.rows.epochs.removeValue(forKey: scope)
        try batch.run(Self.beginEarlier, scope.number, time.milliseconds)
    }

    func add(_ sum: Double, to key: CounterKey, of scope: Scope, hasRoom: Bool) {
        batch.add(sum, to: WriteBatch.LearntKey(scope: scope, key: key, hasRoom: hasRoom))
    }

    func removeCounter(_ key: Int64, _ family: CounterFamily, of scope: Scope) throws(PostgreSQLError) {
        batch.changeLearnt { $0.scope == scope && $0.key.family == family && $0.key.key == key ? nil : $1 }
        try batch.run(Self.remove, scope.number, Int64(family.rawValue), key)
    }

    func keepLargest(_ count: Int, of scope: Scope, _ family: CounterFamily) throws(PostgreSQLError) {
        try batch.run(Self.keepLargest, scope.number, Int64(family.rawValue), Int64(count))
    }

    func scaleCounters(of scope: Scope, _ family: CounterFamily, by factor: Double) throws(PostgreSQLError) {
        batch.changeLearnt { $0.scope == scope && $0.key.family == family ? $1 * factor : $1 }
        // A family may have a million counters, and one statement for all of them would pass the connection's time
        // limit. The keys of such a family are hashes, so each part has about the same number of counters.
        let length: Int64 = 1 << 60
        for part in 0..<16 as Range<Int64> {
            let first = Int64.min &+ part &* length
            let (number, last) = (Int64(family.rawValue), first + (length - 1))
            try batch.run(Self.scale, scope.number, number, factor, first, last)
        }
    }

    func setLandmark(of scope: Scope, to landmark: Timestamp) throws(PostgreSQLError) {
        batch.rows.epochs.removeValue(forKey: scope)
        try batch.run(Self.setLandmark, scope.number, landmark.milliseconds)
    }

    func forgetCounters(of scope: Scope, limit: Int) throws(PostgreSQLError) -> Bool {
        batch.rows.epochs.removeValue(forKey: scope)
        batch.changeLearnt { $0.scope == scope ? nil : $1 }
        try batch.run(Self.forget, scope.number)
        return try batch.run(Self.removeSome, scope.number, Int64(limit)).affectedCount >= limit
    }

    private static let begin: PreparedStatement =
        "INSERT INTO learning (scope, began_at, landmark) VALUES ($1::int8, $2, $3) ON CONFLICT DO NOTHING"
    private static let beginEarlier: PreparedStatement =
        "UPDATE learning SET began_at = $2 WHERE scope = $1 AND began_at > $2"
    private static let remove: PreparedStatement =
        "DELETE FROM learnt_counters WHERE scope = $1 AND family = $2 AND key = $3"
    private static let keepLargest: PreparedStatement = """
        DELETE FROM learnt_counters WHERE scope = $1 AND family = $2 AND key IN (
        SELECT key FROM learnt_counters WHERE scope = $1 AND family = $2 ORDER BY value DESC OFFSET $3)
        """
    private static let scale: PreparedStatement =
        "UPDATE learnt_counters SET value = value * $3 WHERE scope = $1 AND family = $2 AND key BETWEEN $4 AND $5"
    private static let setLandmark = PreparedStatement("UPDATE learning SET landmark = $2 WHERE scope = $1")
    private static let forget = PreparedStatement("DELETE FROM learning WHERE scope = $1")
    private static let removeSome: PreparedStatement = """
        DELETE FROM learnt_counters WHERE scope = $1 AND (family, key) IN (
        SELECT family, key FROM learnt_counters WHERE scope = $1 ORDER BY family, key LIMIT $2)
        """
}
#endif
