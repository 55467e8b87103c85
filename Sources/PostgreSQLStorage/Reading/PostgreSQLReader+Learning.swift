#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Reads what the matching model has learnt, and the clicks of a large key.
extension PostgreSQLReader {
    func learningEpoch(of scope: Scope) throws(PostgreSQLError) -> LearningEpoch? {
        try first(Self.epoch, scope.number) {
            LearningEpoch(began: $0.get("began_at"), landmark: $0.get("landmark"))
        }
    }

    private static let epoch = PreparedStatement("SELECT began_at, landmark FROM learning WHERE scope = $1")

    func modelSums(of scope: Scope) throws(PostgreSQLError) -> [CounterKey: Double] {
        guard case .model(_, let sums) = try answer(.model(scope)) else { return [:] }
        return sums
    }

    func learntScopes() throws(PostgreSQLError) -> [Scope] {
        try all(Self.scopes) { Scope(number: $0.get("scope")) }
    }

    private static let scopes = PreparedStatement("SELECT scope FROM learning")

    func learntCounterCount(of scope: Scope, _ family: CounterFamily?) throws(PostgreSQLError) -> Int {
        let family = family.map { Int64($0.rawValue) }
        return try first(Self.counterCount, scope.number, family) { $0.get("count") } ?? 0
    }

    private static let counterCount: PreparedStatement =
        "SELECT count(*) FROM learnt_counters WHERE scope = $1 AND ($2 IS NULL OR family = $2)"

    func learntSums(of scope: Scope, _ family: CounterFamily, after key: Int64, atMost limit: Int)
        throws(PostgreSQLError) -> [(key: Int64, sum: Double)]
    {
        try all(Self.sumsAfter, scope.number, Int64(family.rawValue), key, Int64(limit)) {
            row throws(PostgreSQLError) in (key: row.get("key") as Int64, sum: row.get("value") as Double)
        }
    }

    private static let sumsAfter: PreparedStatement = """
        SELECT key, value FROM learnt_counters WHERE scope = $1 AND family = $2 AND key > $3 ORDER BY key LIMIT $4
        """

    /// Reads a page of the key's rows; reads at most a page from each slot, so that PostgreSQL sorts few rows.
    func openClicks(
        of key: KeySummary.Key,
        before position: RowPosition,
        atMost limit: Int,
        _ body: (IndexRecord) -> Void
    ) throws(PostgreSQLError) {
        let (hash, scope) = (key.fingerprint, key.scope.number)
        try all(
            Self.openClicks,
            hash.index,
            hash.rest,
            scope,
            position.clickedAt,
            position.click,
            Int64(limit)
        ) {
            row throws(PostgreSQLError) in try row.record(IndexRecord.self)
        }.forEach(body)
    }

    private static let openClicks: PreparedStatement = """
        SELECT f.* FROM partitions p CROSS JOIN LATERAL (
        SELECT \(IndexRecord.columns) FROM click_index WHERE slot = p.slot AND b = ($1 & 63) AND scope = $3
        AND hash = $1 AND hash_rest = $2 AND closed_at IS NULL AND (since, click) < ($4, $5)
        ORDER BY since DESC, click DESC LIMIT $6) f ORDER BY since DESC, click DESC LIMIT $6
        """

    /// Returns the name of the campaign with this hash, from the expected click or from an open click of the
    /// fingerprint.
    func campaign(hashed hash: UInt64, _ expected: PendingCheckRecords.Expected, in scope: Scope)
        throws(PostgreSQLError) -> String?
    {
        if let click = expected.click {
            guard case .home(let home) = try answer(.home(click)) else { return nil }
            return home.click.facts.campaignKey?.text
        }
        guard let key = expected.fingerprint else { return nil }
        let number = try first(Self.clickOfCampaign, key.index, key.rest, scope.number, hash) {
            $0.get("click") as Int64
        }
        guard let number, case .home(let home) = try answer(.home(number)) else { return nil }
        return home.click.facts.campaignKey?.text
    }

    private static let clickOfCampaign: PreparedStatement = """
        SELECT f.click FROM partitions p CROSS JOIN LATERAL (SELECT * FROM (
        SELECT click, campaign FROM click_index WHERE slot = p.slot AND b = ($1 & 63) AND scope = $3
        AND hash = $1 AND hash_rest = $2 AND closed_at IS NULL ORDER BY since DESC, click DESC LIMIT 4096) r
        WHERE campaign = $4 LIMIT 1) f LIMIT 1
        """
}
#endif
