#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage
struct PostgreSQLReader: JobReader, DirectoryReader {
    let connection: BlockingConnection
    static let unused = PostgreSQLError(.other, "stub")
    static func translated(_ e: PostgreSQLError) -> EngineFailure { EngineFailure(StoreError(e), endsBatch: true, endsConnection: e.kind == .connectionLost || e.kind == .notConnected || e.kind == .shuttingDown) }
    func directoryVersion() throws(PostgreSQLError) -> Int64 { try connection.execute(Self.version).value(0, 0) }
    static let version = PreparedStatement("SELECT version FROM directory")
    func directorySnapshot() throws(PostgreSQLError) -> DirectoryCache.Snapshot { .init(version: try directoryVersion(), directory: Directory(apps: [], keys: [])) }
    func progress(of job: JobName) throws(PostgreSQLError) -> Timestamp? {
        let r = try connection.execute(Self.progress, job.rawValue)
        guard r.count > 0 else { return nil }
        let v: Int64 = try r.value(0, 0)
        return v == .min ? nil : Timestamp(milliseconds: v)
    }
    static let progress = PreparedStatement("SELECT progress FROM jobs WHERE name = $1")
    func numberedApps() throws(PostgreSQLError) -> [NumberedApp] { throw Self.unused }
    func value(of name: StoredValue) throws(PostgreSQLError) -> Int64? { throw Self.unused }
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
    func learningEpoch(of scope: Scope) throws(PostgreSQLError) -> LearningEpoch? { throw Self.unused }
    func modelSums(of scope: Scope) throws(PostgreSQLError) -> [CounterKey: Double] { throw Self.unused }
    func openClicks(of key: KeySummary.Key, before position: RowPosition, atMost limit: Int, _ body: (IndexRecord) -> Void) throws(PostgreSQLError) { throw Self.unused }
    func newestClick() throws(PostgreSQLError) -> Int64 { throw Self.unused }
    func indexPosition(after position: Int?, count: Int) throws(PostgreSQLError) -> Int? { throw Self.unused }
    func indexHashes(after position: Int?, count: Int, _ body: (UInt64) -> Void) throws(PostgreSQLError) -> Int? { throw Self.unused }
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
