internal import Attribution
internal import JSON
internal import Server
internal import Storage

/// The command `afterlink export`.
enum ExportTableCommand {
    static let description = CommandDescription(
        name: "export",
        summary: "Write what is new in a table to files for a warehouse",
        discussion: [
            "Writes the rows since the last run to files such as DIR/date=2026-10-01/clicks-2026-10-01T12-000001.csv, one for"
                + " each hour of recording and each run, and lists them in DIR/date=2026-10-01/clicks-manifest.ndjson with"
                + " their rows and SHA-256. A run without new rows writes no file. Reads the database itself, also while it is"
                + " served.",
            "A file that the manifest lists is whole and never changes. FILE remembers where the next run continues: after a"
                + " kill at any time, it neither repeats nor loses a row. Keep one FILE for each table and directory.",
            "The tables: clicks; checks, each with a weight, the number of checks that it stands for; matches; events;"
                + " apple_postbacks; counters of closed hours; links and deliveries, of which each file has all; and"
                + " deletions, which name the clicks, checks and events that were erased, and the days before which"
                + " retention has left none. No column has a fingerprint, an address or a user agent. On PostgreSQL, rows appear"
                + " half a minute after they were recorded.",
            "Parquet files are not compressed; they have types: times are timestamps in UTC.",
        ],
        options: CommandOption.table([
            "table TABLE": "The table, by its name above.",
            "format csv|ndjson|parquet": "The form. Default: csv.",
            "to DIR": "The directory, which is created if its parent exists.",
            "state FILE": "The file that remembers the last row.",
            "app APP": "Only rows of this app, by id or name.",
        ]) + [.jsonObject],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink export --table clicks --to exports --state exports/clicks.state":
                "Write the clicks since the last run, for example every hour."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let tables = ExportTable.allCases.map(\.rawValue).joined(separator: ", ")
        let table = try arguments.read("table", "must be one of \(tables)") { ExportTable(rawValue: $0) }
        let format =
            try arguments.read("format", "must be csv, ndjson or parquet") { ExportFileFormat(rawValue: $0) }
            ?? .csv
        guard let table, let directory = arguments.value("to"), let state = arguments.value("state") else {
            throw CommandFailure.usage("An export needs a table, a directory and a state file.")
                .advising("Write `afterlink export --table clicks --to DIR --state FILE`.")
        }
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let app = try AppChoice.named(arguments, in: database.directory())?.id
        let now = WallClock.system.now()
        let folder = ExportFolder(
            directory: directory,
            statePath: state,
            table: table,
            format: format,
            app: app
        )
        let files = try await folder.run(database.exports, at: now)
        let rows = files.map(\.rows).reduce(0, +)
        let text =
            files.isEmpty
            ? "Nothing is new in \(table.rawValue)."
            : "Wrote \(DatabaseSummary.count(Int64(rows), "row")) of \(table.rawValue) to "
                + "\(DatabaseSummary.count(Int64(files.count), "file")) in \(directory)."
        let json = JSONWriter.text { json in
            json.member("rows", Int64(rows))
            json.objects("files", files) { $1.write(to: &$0) }
        }
        invocation.show(text, json: json)
    }
}
