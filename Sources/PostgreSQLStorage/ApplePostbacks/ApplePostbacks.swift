#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Writes and deletes Apple's postbacks and probes.
extension PostgreSQLWriter {
    func insert(_ postback: ApplePostbackRecord) throws(PostgreSQLError) -> Bool {
        try run(Self.insertPostback, postback).affectedCount > 0
    }

    func deleteApplePostbacks(_ deadlines: ApplePostbackDeadlines, atMost limit: Int64)
        throws(PostgreSQLError) -> Int64
    {
        let (unclaimed, unverified) = (deadlines.unclaimed, deadlines.unverified)
        return Int64(
            try batch.run(Self.deletePostbacks, unclaimed, unverified, deadlines.all, limit).affectedCount
        )
    }

    func insert(_ probe: AppleProbe) throws(PostgreSQLError) {
        try batch.run(Self.insertProbe, probe.nonce, probe.digest.bytes, probe.expiresAt.milliseconds)
    }

    func removeProbes(before now: Timestamp) throws(PostgreSQLError) {
        try batch.run(Self.removeProbes, now.milliseconds)
    }

    func setArrival(ofProbe nonce: String, _ digest: KeyDigest) throws(PostgreSQLError) {
        try batch.run(Self.setArrival, nonce, digest.bytes)
    }

    private static let insertPostback: PreparedStatement = """
        INSERT INTO apple_postbacks (\(ApplePostbackRecord.columns))
        SELECT * FROM \(rowsWith: ApplePostbackRecord.columns) ON CONFLICT DO NOTHING
        """
    /// Skips locked rows: two servers that delete the same postbacks at the same time would otherwise wait for each
    /// other.
    private static let deletePostbacks: PreparedStatement = """
        DELETE FROM apple_postbacks WHERE number IN (SELECT number FROM apple_postbacks
        WHERE number < $1 AND (number < $3 OR number < $2 AND verification <> 'valid'
        OR framework <> 'apple_ads' AND item NOT IN (SELECT value FROM app_fields WHERE field = 'ios_store_id'))
        ORDER BY number LIMIT $4 FOR UPDATE SKIP LOCKED)
        """
    private static let insertProbe: PreparedStatement =
        "INSERT INTO apple_probes (nonce, digest, expires_at, arrival) VALUES ($1, $2, $3, 0)"
    private static let removeProbes = PreparedStatement("DELETE FROM apple_probes WHERE expires_at <= $1")
    private static let setArrival: PreparedStatement =
        "UPDATE apple_probes SET arrival = CASE WHEN digest = $2 THEN 1 ELSE 2 END WHERE nonce = $1"
}

/// Reads Apple's postbacks and probes.
extension PostgreSQLReader: ApplePostbackRows {
    /// The number of postbacks that are read at once.
    private static let postbacksAtOnce: Int64 = 500

    func applePostbacks(from first: Int64, before end: Int64, _ body: (StoredApplePostback) -> Bool)
        throws(PostgreSQLError)
    {
        var next = end
        while true {
            let postbacks = try all(Self.newestPostbacks, first, next, Self.postbacksAtOnce) {
                row throws(PostgreSQLError) in try row.record(ApplePostbackRecord.self).stored
            }
            for postback in postbacks where !body(postback) { return }
            guard postbacks.count == Self.postbacksAtOnce, let last = postbacks.last else { return }
            next = last.number
        }
    }

    func applePostbackSums(from first: Int64, before end: Int64) throws(PostgreSQLError)
        -> [ApplePostbackSum]
    {
        try all(Self.postbackSums, first, end) { row throws(PostgreSQLError) in
            try row.record(ApplePostbackSumRecord.self).sum
        }
    }

    func applePostbacks(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(PostgreSQLError)
        -> [StoredApplePostback]
    {
        try all(Self.exportedPostbacks, numbers.lowerBound, numbers.upperBound, Int64(limit)) {
            row throws(PostgreSQLError) in try row.record(ApplePostbackRecord.self).stored
        }
    }

    func arrival(ofProbe nonce: String) throws(PostgreSQLError) -> AppleProbe.Arrival? {
        try first(Self.arrival, nonce) { $0.get("arrival") as AppleProbe.Arrival? } ?? nil
    }

    private static let newestPostbacks: PreparedStatement = """
        SELECT \(ApplePostbackRecord.columns) FROM apple_postbacks
        WHERE number >= $1 AND number < $2 ORDER BY number DESC LIMIT $3
        """
    private static let postbackSums: PreparedStatement = """
        SELECT \(ApplePostbackSumRecord.groups), count(*) AS amount FROM apple_postbacks
        WHERE number >= $1 AND number < $2 GROUP BY \(ApplePostbackSumRecord.groups)
        """
    private static let exportedPostbacks: PreparedStatement = """
        SELECT \(ApplePostbackRecord.columns) FROM apple_postbacks
        WHERE number >= $1 AND number <= $2 ORDER BY number LIMIT $3
        """
    private static let arrival = PreparedStatement("SELECT arrival FROM apple_probes WHERE nonce = $1")
}
#endif
