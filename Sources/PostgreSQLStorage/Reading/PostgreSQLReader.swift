#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// A connection that reads for jobs, reports and commands; extensions add the reads of each subject.
///
/// Only its connection's thread may use it; each read blocks that thread until PostgreSQL responds.
struct PostgreSQLReader: ReportReader, DirectoryReader, ClockReader, KeyNeedsReader {
    typealias Failure = PostgreSQLError
    typealias IndexPosition = Int64

    let connection: BlockingConnection

    static func translated(_ error: PostgreSQLError) -> EngineFailure { EngineFailure(error) }

    /// Adds the committed deltas to the tables of counts, and then begins a snapshot.
    func beginSnapshot() throws(PostgreSQLError) {
        try connection.foldAll()
        try connection.execute(BlockingConnection.beginSnapshot)
    }

    func endSnapshot() throws(PostgreSQLError) { try connection.execute(BlockingConnection.rollback) }
}

/// Reads rows.
extension PostgreSQLReader {
    /// Returns the value that `read` returns for each row.
    func all<Value, each Parameter: PostgreSQLValue>(
        _ statement: PreparedStatement,
        _ parameters: repeat each Parameter,
        read: (inout ResultRow) throws(PostgreSQLError) -> Value
    ) throws(PostgreSQLError) -> [Value] {
        try all(statement, Parameters(repeat each parameters), read: read)
    }

    func all<Value>(
        _ statement: PreparedStatement,
        _ parameters: Parameters,
        read: (inout ResultRow) throws(PostgreSQLError) -> Value
    ) throws(PostgreSQLError) -> [Value] {
        let rows = try connection.execute(statement, parameters)
        return try rows.map { (index) throws(PostgreSQLError) in
            var row = ResultRow(rows, index)
            let value = try read(&row)
            if let failure = row.failure { throw failure }
            return value
        }
    }

    func first<Value, each Parameter: PostgreSQLValue>(
        _ statement: PreparedStatement,
        _ parameters: repeat each Parameter,
        read: (inout ResultRow) throws(PostgreSQLError) -> Value
    ) throws(PostgreSQLError) -> Value? { try all(statement, repeat each parameters, read: read).first }

    /// Answers a question that event loops ask too, with the same statements.
    ///
    /// A question about a key or an address reads all slots that exist.
    func answer(_ question: RowQuestion) throws(PostgreSQLError) -> RowAnswer {
        // Without known slots, PostgreSQL finds the partition of a click.
        let element = QuestionElement(question, SlotTable([:]))
        let slots: [Int64] =
            switch element.kind {
            case .key, .moreOfKey, .openClicks, .newestClicks, .around, .countAround: try slots().reversed()
            default: []
            }
        let statement = try connection.statement(of: element.kind, in: slots)
        let isCitus = try connection.isCitus()
        let rows = try connection.execute(
            statement,
            QuestionElement.parameters([element], onCitus: isCitus)
        )
        return try element.kind.answers(in: rows, to: 1).first ?? .nothing
    }

    /// Returns the slots with partitions, in ascending order.
    func slots() throws(PostgreSQLError) -> [Int64] {
        try Partitions(connection: connection).slots().map(\.number)
    }
}

/// Reads numbers of apps, clicks and checks, and values that are stored under a name.
extension PostgreSQLReader {
    func number(of app: AppID) throws(PostgreSQLError) -> Int64? {
        try first(Self.numberOfApp, app.high, app.low) { $0.get("number") }
    }

    private static let numberOfApp: PreparedStatement =
        "SELECT number FROM apps WHERE id_high = $1 AND id_low = $2"

    /// Returns the largest number of a click; 0 without clicks.
    func newestClick() throws(PostgreSQLError) -> Int64 {
        try first(Self.newestClick) { $0.get("number") } ?? 0
    }

    func newestCheck() throws(PostgreSQLError) -> Int64 {
        try first(Self.newestCheck) { $0.get("number") } ?? 0
    }

    /// Selects the last number of each bucket separately, because the index starts with the bucket.
    private static func newest(_ table: StaticString) -> PreparedStatement {
        """
        SELECT coalesce(max(n), 0) AS number FROM buckets AS k
        CROSS JOIN LATERAL (SELECT max(id) AS n FROM \(table) WHERE b = k.b) f
        """
    }

    private static let newestClick = newest("clicks")
    private static let newestCheck = newest("checks")

    func value(of name: StoredValue) throws(PostgreSQLError) -> Int64? {
        try first(Self.value, name.rawValue) { $0.get("value") }
    }

    private static let value = PreparedStatement("SELECT value FROM progress WHERE name = $1")

    func numberedApps() throws(PostgreSQLError) -> [NumberedApp] {
        try all(Self.numberedApps) { row throws(PostgreSQLError) in
            let (number, name): (Int64, String) = (row.get("number"), row.get("name"))
            let (window, limit): (Int64?, Int64?) = (
                row.get("window_seconds"), row.get("fingerprint_window_seconds")
            )
            let own = window.flatMap { AttributionWindow(seconds: $0) }
            var app = NumberedApp(number: number, name: name, window: own)
            app.fingerprintWindow = limit.flatMap { AttributionWindow(seconds: $0) }
            return app
        }
    }

    private static let numberedApps: PreparedStatement =
        "SELECT number, name, window_seconds, fingerprint_window_seconds FROM apps"
}

/// The progress of jobs, and the keys that stored hashes need.
extension PostgreSQLReader {
    func storedProgress(of name: String) throws(PostgreSQLError) -> Int64? {
        try first(Self.progress, name) { $0.get("progress") }
    }

    private static let progress = PreparedStatement("SELECT progress FROM jobs WHERE name = $1")

    func formerServerKeys() throws(PostgreSQLError) -> [UInt64: Timestamp] {
        let keys = try all(Self.formerServerKeys) { row throws(PostgreSQLError) in
            (row.get("key_check") as UInt64, row.get("replaced_at") as Timestamp)
        }
        return Dictionary(keys) { first, _ in first }
    }

    private static let formerServerKeys: PreparedStatement =
        "SELECT key_check, replaced_at FROM former_server_keys"

    /// Returns the keys that stored hashes need at the given time.
    func requiredKeys(at now: Timestamp) throws(PostgreSQLError) -> RequiredKeys {
        var required = RequiredKeys()
        let oldest: Int64?? = try first(Self.oldestRecord) { $0.get("number") }
        required.oldestRecord = (oldest ?? nil).map(RowIdentifier.time(of:))
        required.replaced = try formerServerKeys()
        required.firstAddressDay = try first(Self.firstAddressDay, now.milliseconds) { $0.get("day") }
        return required
    }

    private static let oldestRecord: PreparedStatement = """
        SELECT least((SELECT min(n) FROM buckets AS k CROSS JOIN LATERAL (
        SELECT min(id) AS n FROM clicks WHERE b = k.b UNION ALL SELECT min(id) FROM checks WHERE b = k.b) f),
        (SELECT min(number) FROM events), (SELECT min(matched_at) << 16 FROM attributed_installs)) AS number
        """
    private static let firstAddressDay: PreparedStatement =
        "SELECT day FROM address_days WHERE needed_until >= $1 ORDER BY day LIMIT 1"

    /// Returns whether the address key of any stored day is no longer needed at the given time.
    func hasPastAddressDays(at now: Timestamp) throws(PostgreSQLError) -> Bool {
        try connection.execute(Self.pastAddressDay, now.milliseconds).count > 0
    }

    private static let pastAddressDay: PreparedStatement =
        "SELECT FROM address_days WHERE needed_until < $1 LIMIT 1"
}

/// Returns no rows for the filter of fingerprints, because only a database in a file has this filter.
extension PostgreSQLReader {
    func indexPosition(after position: Int64?, count: Int) -> Int64? { nil }
    func indexHashes(after position: Int64?, count: Int, _ body: (UInt64) -> Void) -> Int64? { nil }
}

extension BlockingConnection {
    /// Returns the statement of a kind of question; makes new statements if the slots have changed.
    fileprivate func statement(of kind: QuestionKind, in slots: [Int64]) throws(PostgreSQLError)
        -> PreparedStatement
    {
        let former = slots.isEmpty ? fixedQuestions : slotQuestions
        var known: QuestionStatements
        if let former, former.slots == slots {
            known = former
        } else {
            for statement in (former?.made ?? [:]).values { discard(statement) }
            known = QuestionStatements(slots, onCitus: try isCitus())
        }
        let statement = known.statement(kind)
        if slots.isEmpty { fixedQuestions = known } else { slotQuestions = known }
        return statement
    }
}
#endif
