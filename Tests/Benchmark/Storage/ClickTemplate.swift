import Attribution
import Support

/// What the server writes for one click, learnt by letting it: rows to make others from.
struct ClickTemplate {
    /// One row of `clicks`.
    let click: RowTemplate
    /// Its rows of `fingerprints`.
    let fingerprints: [RowTemplate]
    /// Its row of `click_addresses`.
    let address: RowTemplate
    /// The counters that each commit moves.
    let counters: [RowTemplate]
    /// The counts of live clicks that each commit moves.
    let live: [RowTemplate]

    /// Tables that a click leaves as they are, or that are moved now and then, whatever the number of clicks.
    private static let others: Set = [
        "apps", "app_fields", "keys", "directory", "migrations", "progress",
        "learning", "learnt_counters", "drift_counters", "address_days",
    ]

    /// Lets a server on a new database record a click, and reads what it wrote.
    ///
    /// The click has a fingerprint ready, or brings what a browser on a device tells.
    init(_ bench: Workbench, from device: SampleDevice? = nil) throws {
        let installation = try Installation(making: bench.folder.makeFolder("template"), with: bench.binary)
        let server = try Server(installation, bench)
        let body =
            device?.example ?? SampleRequests.clickBody(fingerprint: SeededFingerprint.number(0).hex)
        let request = SampleRequests.click(
            body: body,
            key: installation.keys.app,
            agent: device?.userAgent ?? SampleRequests.userAgent
        )
        guard try server.answer(request).status == 201 else {
            throw BenchmarkError("The server records no click.")
        }
        server.stop()
        let database = try PlainDatabase(installation.database)
        try bench.checkSchema(of: database)
        click = try Self.only("clicks", database)
        fingerprints = try RowTemplate.read("click_index", "TRUE", in: database)
        address = try Self.only("click_addresses", database)
        counters = try RowTemplate.read("counters", "TRUE", in: database)
        live = try RowTemplate.read("live_clicks", "TRUE", in: database)
        try Self.refuseUnknownTables(of: database)
    }

    /// The app and its traffic, as the database numbers them.
    func scope() throws -> Int64 { try click.integer("scope") }

    /// The row that a check finds a click by that has but one.
    func fingerprint() throws -> RowTemplate {
        guard fingerprints.count == 1, let row = fingerprints.first else {
            throw BenchmarkError(
                "A click writes \(fingerprints.count) fingerprints: tell the benchmark's Storage."
            )
        }
        return row
    }

    private static func only(_ table: String, _ database: PlainDatabase) throws -> RowTemplate {
        let rows = try RowTemplate.read(table, "TRUE", in: database)
        guard rows.count == 1, let row = rows.first else {
            throw BenchmarkError(
                "A click writes \(rows.count) rows to \(table), not one: tell the benchmark's Storage."
            )
        }
        return row
    }

    /// A table that the server writes to and this program does not would make its rows lighter than real ones.
    private static func refuseUnknownTables(of database: PlainDatabase) throws {
        let known = others.union([
            "clicks", "click_index", "click_addresses", "counters", "live_clicks",
        ])
        for row in try database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") {
            guard case .text(let name) = row.first, !name.hasPrefix("sqlite_"), !known.contains(name) else {
                continue
            }
            guard try database.integer("SELECT count(*) FROM \(name)") == 0 else {
                throw BenchmarkError("A click writes to the table \(name) too: tell the benchmark's Storage.")
            }
        }
    }
}
