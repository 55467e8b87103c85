#if PostgreSQL
import Attribution
@testable import PostgreSQL
@testable import PostgreSQLStorage
@testable import Storage
import Support

/// The blocking reader over a database of one test, whose rows are inserted by the writer's statements.
struct ReaderHarness {
    static let noon = Timestamp(milliseconds: 1_700_049_600_000)
    static let day: Int64 = 86_400_000
    static let today = noon.milliseconds / day
    static let app = AppID(high: 1, low: 3)
    /// The live traffic of the app with the number 3.
    static let scope = Scope(app: 3, isTest: false)

    let database: PostgreSQLTestDatabase
    let configuration: PostgreSQLConfiguration
    let reader: PostgreSQLReader
    var connection: BlockingConnection { reader.connection }

    init() throws {
        database = try JobDatabase.make(at: Self.noon)
        configuration = try PostgreSQLConfiguration(
            url: database.socketURL,
            name: "the test's database",
            clock: WallClock { Self.noon }
        )
        reader = PostgreSQLReader(connection: try DatabaseOpening(configuration).open().connection)
        for slot in [RowHome.longSlot, Self.today - 1, Self.today] {
            try Partitions(connection: connection).make(slot)
        }
        try database.execute(
            """
            INSERT INTO apps (number, id_high, id_low, name, open_clicks, created_at) VALUES (3, 1, 3, 'Shop', 0, 5);
            INSERT INTO apps (number, id_high, id_low, name, open_clicks, created_at) VALUES (4, 1, 4, 'Other', 0, 6)
            """
        )
    }

    func insert(_ change: RowChange, _ rows: [(inout ColumnArrays) -> Void]) throws {
        var arrays = ColumnArrays(change.columns)
        for row in rows { arrays.append(row) }
        var batch = StatementBatch()
        batch.append(PreparedStatement(change.text(onCitus: false)), arrays.parameters)
        _ = try connection.rows(of: batch)
    }

    static func time(_ seconds: Int64) -> Timestamp { noon.advanced(byMilliseconds: seconds * 1000) }

    /// The number of a click: its time, a counter of 9 bits that includes the server's number, whether its
    /// window is long, and its bucket.
    static func number(_ time: Timestamp, bucket: UInt64, count: Int64 = 0, isLong: Bool = false) -> Int64 {
        time.milliseconds << 16 | count << 7 | (isLong ? 1 << 6 : 0) | Int64(bucket & 63)
    }

    /// Writes a click with its rows of the index and of addresses; returns its record.
    @discardableResult
    func add(
        _ click: NewClick,
        to scope: Scope = scope,
        count: Int64 = 0,
        isLong: Bool = false,
        link: Int64? = nil
    ) throws -> ClickRecord {
        let number = Self.number(
            click.facts.recordedAt,
            bucket: click.visit.index,
            count: count,
            isLong: isLong
        )
        let hashes = click.fingerprints.map(\.key)
        let id = ClickID(high: UInt64(number), low: 77)
        let record = ClickRecord(click, id: id, scope: scope, hashes: hashes, link: link)
        try insert(
            .click,
            [
                { row in
                    record.write(to: &row)
                    row.put("turn", -number)
                }
            ]
        )
        try insert(
            .indexEntry,
            IndexEntry.all(of: click, number, in: scope).map { entry in { entry.write(to: &$0) } }
        )
        if let address = click.evidence.address {
            try insert(
                .address,
                [
                    { row in
                        row.put("scope", scope.number)
                        row.put("near_address", address.near)
                        row.put("clicked_at", click.facts.clickedAt)
                        row.put("click", number)
                        row.put("exact_address", address.exact)
                        row.put("expires_at", record.expiresAt)
                        row.put("marks", HashPrefixes(hashes).bytes)
                    }
                ]
            )
        }
        return record
    }

    /// Claims a click and closes its rows of the index.
    func claim(_ click: ClickRecord, after seconds: Int64, install: KeyedHash? = nil) throws {
        let claim = Claim(
            click: click.click(of: Self.app, link: nil),
            claimedAt: click.facts.clickedAt.advanced(byMilliseconds: seconds * 1000),
            method: .probabilistic,
            confidence: 0.9,
            competingClicks: 0,
            isCampaignOnly: false
        )
        let record = ClaimRecord(
            claim,
            click.scope,
            hash: click.hashes.first,
            install: install,
            caller: hash(70)
        )
        let slot = RowHome(of: click.number).slot
        try insert(.claim(slot: slot), [{ record.write(to: &$0) }])
        try insert(
            .closing(slot: slot),
            click.hashes.map { key in
                { row in
                    row.put("scope", click.scope.number)
                    row.put("hash", key.index)
                    row.put("since", click.facts.clickedAt)
                    row.put("click", click.number)
                    row.put("closed_at", claim.claimedAt)
                    row.put("caller", hash(70).index)
                }
            }
        )
        guard let install else { return }
        try insert(
            .install,
            [
                { row in
                    row.put("scope", click.scope.number)
                    row.put("install", "install_rest", install)
                    row.put("click", click.number)
                    row.put("until", click.expiresAt)
                }
            ]
        )
    }

    /// Writes a record of a check by a server; returns its number.
    @discardableResult
    func addCheck(
        _ at: Timestamp,
        server: Int64 = 0,
        count: Int64 = 0,
        scope: Scope = scope,
        _ set: (inout CheckFacts) -> Void = { _ in }
    ) throws -> UInt64 {
        let number = UInt64(at.milliseconds << 16 | count << 12 | server << 7 | server)
        var facts = CheckFacts(at: at, outcome: .noMatch)
        facts.reason = .noClick
        set(&facts)
        let record = CheckRecord(id: CheckID(high: number, low: 5), scope: scope, facts: facts)
        try insert(.check, [{ record.write(to: &$0) }])
        return number
    }

    /// Writes counts as a server does, and adds them to the tables.
    func count(_ set: (inout CountPayload) -> Void) throws {
        var payload = CountPayload()
        set(&payload)
        try store(payload)
        try connection.foldAll()
    }

    /// Writes counts that no job has added to the tables.
    func store(_ payload: CountPayload) throws {
        try connection.execute(Self.addDelta, payload.bytes)
    }

    private static let addDelta = PreparedStatement("INSERT INTO count_deltas (b, payload) VALUES (0, $1)")
}
#endif
