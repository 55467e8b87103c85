internal import Attribution
internal import SQLite
internal import Storage

/// Writes and deletes Apple's postbacks and probes.
extension SQLiteWriter {
    func insert(_ postback: ApplePostbackRecord) throws(SQLiteError) -> Bool {
        try connection.statement(Self.insertPostback).run(postback)
        return connection.changeCount > 0
    }

    func newestApplePostback() throws(SQLiteError) -> Int64 {
        try connection.integer("SELECT ifnull(max(number), 0) FROM apple_postbacks")
    }

    func deleteApplePostbacks(_ deadlines: ApplePostbackDeadlines, atMost limit: Int64) throws(SQLiteError)
        -> Int64
    {
        try connection.statement(Self.deletePostbacks)
            .run(deadlines.unclaimed, deadlines.unverified, deadlines.all, limit)
        return connection.changeCount
    }

    func insert(_ probe: AppleProbe) throws(SQLiteError) {
        try connection.statement(Self.insertProbe)
            .run(probe.nonce, probe.digest.bytes, probe.expiresAt.milliseconds)
    }

    func removeProbes(before now: Timestamp) throws(SQLiteError) {
        try connection.statement("DELETE FROM apple_probes WHERE expires_at <= ?1").run(now.milliseconds)
    }

    func setArrival(ofProbe nonce: String, _ digest: KeyDigest) throws(SQLiteError) {
        try connection.statement(Self.setArrival).run(nonce, digest.bytes)
    }

    private static let insertPostback: SQL = """
        INSERT INTO apple_postbacks (\(ApplePostbackRecord.columns))
        VALUES (\(parametersFor: ApplePostbackRecord.columns)) ON CONFLICT DO NOTHING
        """
    private static let deletePostbacks: SQL = """
        DELETE FROM apple_postbacks WHERE number IN (
            SELECT number FROM apple_postbacks
            WHERE number < ?1 AND (number < ?3 OR number < ?2 AND verification <> 'valid'
                OR framework <> 'apple_ads' AND item NOT IN (
                    SELECT value FROM app_fields WHERE field = 'ios_store_id'
                ))
            ORDER BY number LIMIT ?4
        )
        """
    private static let insertProbe: SQL =
        "INSERT INTO apple_probes (nonce, digest, expires_at, arrival) VALUES (?1, ?2, ?3, 0)"
    private static let setArrival: SQL = """
        UPDATE apple_probes SET arrival = CASE WHEN digest = ?2 THEN 1 ELSE 2 END WHERE nonce = ?1
        """
}

/// Reads Apple's postbacks and probes.
extension SQLiteReader: ApplePostbackRows {
    func applePostbacks(from first: Int64, before end: Int64, _ body: (StoredApplePostback) -> Bool)
        throws(SQLiteError)
    {
        let statement = try connection.statement(Self.newestPostbacks)
        try statement.bind(first, end)
        defer { statement.reset() }
        while try statement.step() {
            guard body(try statement.record(ApplePostbackRecord.self).stored) else { break }
        }
    }

    func applePostbackSums(from first: Int64, before end: Int64) throws(SQLiteError) -> [ApplePostbackSum] {
        try connection.statement(Self.postbackSums).all(ApplePostbackSumRecord.self, first, end).map(\.sum)
    }

    func applePostbacks(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(SQLiteError)
        -> [StoredApplePostback]
    {
        try connection.statement(Self.exportedPostbacks)
            .all(ApplePostbackRecord.self, numbers.lowerBound, numbers.upperBound, limit).map(\.stored)
    }

    func arrival(ofProbe nonce: String) throws(SQLiteError) -> AppleProbe.Arrival? {
        try connection.statement("SELECT arrival FROM apple_probes WHERE nonce = ?1")
            .first(nonce) { AppleProbe.Arrival(rawValue: $0.integer(0)) } ?? nil
    }

    private static let newestPostbacks: SQL = """
        SELECT \(ApplePostbackRecord.columns) FROM apple_postbacks
        WHERE number >= ?1 AND number < ?2 ORDER BY number DESC
        """
    private static let postbackSums: SQL = """
        SELECT \(ApplePostbackSumRecord.groups), count(*) AS amount FROM apple_postbacks
        WHERE number >= ?1 AND number < ?2 GROUP BY \(ApplePostbackSumRecord.groups)
        """
    private static let exportedPostbacks: SQL = """
        SELECT \(ApplePostbackRecord.columns) FROM apple_postbacks
        WHERE number >= ?1 AND number <= ?2 ORDER BY number LIMIT ?3
        """
}
