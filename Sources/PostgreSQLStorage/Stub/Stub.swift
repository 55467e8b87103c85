#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

// TEMPORARY: replaced by the reader and the rules of other branches.
struct PostgreSQLReader: DirectoryReader, JobReader {
    func directoryVersion() throws(PostgreSQLError) -> Int64 { try one("SELECT version FROM directory") ?? 0 }
    let connection: BlockingConnection
    static let unused = PostgreSQLError(.other, "stub")
    func one<V: PostgreSQLValue>(_ s: SQLText, _ p: Int64..., as _: V.Type = V.self) throws(PostgreSQLError) -> V? {
        var b = StatementBatch()
        var q = Parameters()
        for x in p { q.append(x) }
        b.append(PreparedStatement(s), q)
        let r = try connection.rows(of: b)[0]
        return r.count > 0 ? try r.value(0, 0) : nil
    }
    func number(of app: AppID) throws(PostgreSQLError) -> Int64? {
        try one("SELECT number FROM apps WHERE id_high = $1 AND id_low = $2", Int64(bitPattern: app.high), Int64(bitPattern: app.low))
    }
    func newestClick() throws(PostgreSQLError) -> Int64 { 0 }
    func newestCheck() throws(PostgreSQLError) -> Int64 { 0 }
    func linkID(numbered number: Int64) throws(PostgreSQLError) -> LinkID? {
        let r = try connection.execute(PreparedStatement("SELECT id_high, id_low FROM links WHERE number = $1"), number)
        guard r.count > 0 else { return nil }
        return LinkID(high: UInt64(bitPattern: try r.value(0, 0)), low: UInt64(bitPattern: try r.value(0, 1)))
    }
    func link(_ id: LinkID) throws(PostgreSQLError) -> StoredLink? {
        let r = try connection.execute(PreparedStatement("SELECT l.number, \(LinkRecord.columns, of: "l"), a.id_high AS app_high, a.id_low AS app_low FROM links l JOIN apps a ON a.number = l.app WHERE l.id_high = $1 AND l.id_low = $2"), id.high, id.low)
        guard r.count > 0 else { return nil }
        var row = ResultRow(r, 0)
        let number: Int64 = row.get("number")
        let record = try row.record(LinkRecord.self)
        return StoredLink(record, number: number, app: AppID(high: row.get("app_high"), low: row.get("app_low")))
    }
    func value(of name: StoredValue) throws(PostgreSQLError) -> Int64? {
        let r = try connection.execute(PreparedStatement("SELECT value FROM progress WHERE name = $1"), name.rawValue)
        return r.count > 0 ? try r.value(0, 0) : nil
    }
    func numberedApps() throws(PostgreSQLError) -> [NumberedApp] { [] }
    func formerServerKeys() throws(PostgreSQLError) -> [UInt64: Timestamp] { [:] }
    func campaign(hashed hash: UInt64, _ expected: PendingCheckRecords.Expected, in scope: Scope) throws(PostgreSQLError) -> String? { throw Self.unused }
    func learningEpoch(of scope: Scope) throws(PostgreSQLError) -> LearningEpoch? {
        let r = try connection.execute(PreparedStatement("SELECT began_at, landmark FROM learning WHERE scope = $1"), scope.number)
        guard r.count > 0 else { return nil }
        return LearningEpoch(began: Timestamp(milliseconds: try r.value(0, 0)), landmark: Timestamp(milliseconds: try r.value(0, 1)))
    }
    func modelSums(of scope: Scope) throws(PostgreSQLError) -> [CounterKey: Double] { throw Self.unused }
    func openClicks(of key: KeySummary.Key, before position: RowPosition, atMost limit: Int, _ body: (IndexRecord) -> Void) throws(PostgreSQLError) { throw Self.unused }
    func learntSums(of scope: Scope, _ family: CounterFamily, after key: Int64, atMost limit: Int) throws(PostgreSQLError) -> [(key: Int64, sum: Double)] { [] }
    func directorySnapshot() throws(PostgreSQLError) -> DirectoryCache.Snapshot {
        .init(version: try one("SELECT version FROM directory") ?? 0, directory: Directory(apps: [], keys: []))
    }
    func beginSnapshot() throws(PostgreSQLError) {}
    func endSnapshot() throws(PostgreSQLError) {}
    static func translated(_ e: PostgreSQLError) -> EngineFailure { EngineFailure(StoreError(e), endsBatch: true, endsConnection: e.kind == .connectionLost || e.kind == .notConnected || e.kind == .shuttingDown) }
    func firstCountedDay(of scope: Scope) throws(PostgreSQLError) -> Timestamp? { throw Self.unused }
    func driftCounts(of scope: Scope, _ side: DriftSide, from first: Timestamp, before end: Timestamp, _ body: (_ period: Timestamp, _ name: String, _ metric: String, _ count: Int64) -> Void) throws(PostgreSQLError) { throw Self.unused }
    func driftGroups(of scope: Scope, atMost limit: Int) throws(PostgreSQLError) -> [DriftReading] { throw Self.unused }
    func driftHistory(of scope: Scope, end: Timestamp) throws(PostgreSQLError) -> DriftHistory { throw Self.unused }
    func driftAlarms(of scope: Scope) throws(PostgreSQLError) -> [DriftReading] { throw Self.unused }
    func indexedClicks(of scope: Scope, after position: IndexedClick.Position, atMost limit: Int, _ body: (IndexedClick) -> Void) throws(PostgreSQLError) { throw Self.unused }
    func checkRecordBounds() throws(PostgreSQLError) -> ClosedRange<Int64>? { throw Self.unused }
    func checkRecords(after id: Int64, atMost limit: Int, _ body: (CheckRecord, _ clickedAt: Timestamp?) -> Void) throws(PostgreSQLError) { throw Self.unused }
    func collisionReport(of scope: Scope) throws(PostgreSQLError) -> CollisionReport? { throw Self.unused }
    func learntScopes() throws(PostgreSQLError) -> [Scope] { throw Self.unused }
    func learntCounterCount(of scope: Scope, _ family: CounterFamily?) throws(PostgreSQLError) -> Int { throw Self.unused }
    func indexPosition(after position: Int?, count: Int) throws(PostgreSQLError) -> Int? { throw Self.unused }
    func indexHashes(after position: Int?, count: Int, _ body: (UInt64) -> Void) throws(PostgreSQLError) -> Int? { throw Self.unused }
    func progress(of job: JobName) throws(PostgreSQLError) -> Timestamp? {
        let r = try connection.execute(Self.progress, job.rawValue)
        guard r.count > 0 else { return nil }
        let v: Int64 = try r.value(0, 0)
        return v == .min ? nil : Timestamp(milliseconds: v)
    }
    static let progress = PreparedStatement("SELECT progress FROM jobs WHERE name = $1")
    func countedNames(of dimension: Dimension, _ scope: Scope, in period: Timestamp) throws(PostgreSQLError) -> [String] {
        let rows = dimension == .campaign ? try connection.execute(Self.campaigns, scope.number, period.milliseconds)
            : try connection.execute(Self.names, scope.number, dimension.rawValue, period.milliseconds)
        var names: [String] = []
        for i in 0..<rows.count { names.append(try rows.value(i, 0)) }
        return names
    }
    static let campaigns = PreparedStatement("SELECT campaign FROM counts WHERE scope = $1 AND span = 1 AND period = $2 AND metric = 'clicks' AND dimension = 0 AND campaign <> ''")
    static let names = PreparedStatement("SELECT DISTINCT value FROM counts WHERE scope = $1 AND campaign = '' AND dimension = $2 AND span = 1 AND period = $3")
}
#endif
