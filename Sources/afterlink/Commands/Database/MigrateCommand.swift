internal import JSON
internal import Storage

/// The command `afterlink migrate`.
enum MigrateCommand {
    static let description = CommandDescription(
        name: "migrate",
        summary: "Bring the database's tables up to this version, or move it to PostgreSQL",
        discussion: [
            "Applies the migrations that the database lacks, each in a transaction, and copies an SQLite file first."
                + " `afterlink serve` does the same at its start; this command can show the plan first.",
            "It refuses a database of a newer version.",
            "With --from, copies everything of an SQLite file into an empty PostgreSQL database, and counts the rows of"
                + " both, table by table. Stop the service first: the command refuses a file that a process has open, and"
                + " no process can open the file during the move. Identifiers stay, so click tokens and links stay valid."
                + " If the command is stopped, run it again: it continues, and no server starts on the new database before"
                + " it has finished. The file does not change; do not serve it again.",
        ],
        options: CommandOption.table([
            "dry-run": "Show the plan, and change nothing.",
            "from sqlite:PATH": "Move this file, whose keys are beside it or in --server-key-file.",
            "to URL":
                "Move to this PostgreSQL database, as in postgres://user@host/database, without a password; default:"
                + " --database. With --secret-file, the keys move too.",
        ]) + [.json],
        settings: CommandDatabase.settings + ["server-key-file", "secret-file"],
        examples: [
            "afterlink migrate --dry-run": "Show what the new version will change in the database.",
            "afterlink migrate --from sqlite:/var/lib/afterlink/afterlink.db"
                + " --to postgres://afterlink@db.example/afterlink": "Move to a PostgreSQL server.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        if let source = invocation.arguments.value("from") {
            try DatabaseMove(invocation, from: source).run()
            return
        }
        guard !invocation.arguments.has("to") else {
            throw CommandFailure.usage("--to needs --from.")
                .advising("Write `afterlink migrate --from sqlite:PATH --to postgres://user@host/database`.")
        }
        let configuration = try ConfigurationReader.read(invocation)
        // A database on a server exists before its tables do.
        if !configuration.isOnServer { try CommandDatabase.require(configuration) }
        let plan = try CommandDatabase.explaining(configuration) { try $0.migrationPlan() }
        let isDryRun = invocation.arguments.has("dry-run")
        if !isDryRun, !plan.pending.isEmpty { try CommandDatabase.openOrMake(configuration).close() }
        invocation.show(text(plan, isDryRun: isDryRun), json: json(plan, isDryRun: isDryRun))
    }

    private static func text(_ plan: MigrationPlan, isDryRun: Bool) -> String {
        var table = Table([("MIGRATION", .left), ("STATE", .left)])
        for name in plan.applied { table.add([name, "there"]) }
        for name in plan.pending { table.add([name, isDryRun ? "to be applied" : "applied"]) }
        guard !plan.pending.isEmpty else { return table.text + "\n\nThe database is up to date." }
        guard let path = plan.backupPath else { return table.text }
        return table.text + "\n\nThe database \(isDryRun ? "will be" : "was") copied to \(path) first."
    }

    private static func json(_ plan: MigrationPlan, isDryRun: Bool) -> String {
        JSONWriter.text { json in
            json.member("applied", plan.applied + (isDryRun ? [] : plan.pending))
            json.member("pending", isDryRun ? plan.pending : [])
            json.member("backup", plan.backupPath)
        }
    }
}
