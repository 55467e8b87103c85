internal import JSON
internal import Server
internal import Storage

/// The command `afterlink migrate`.
enum MigrateCommand {
    static let description = CommandDescription(
        name: "migrate",
        summary: "Bring the database's tables up to this version",
        discussion: [
            "Copies the database, and then applies the migrations that it lacks, each in a transaction. `afterlink serve` does"
                + " the same at its start; this command can show the plan first.",
            "It refuses a database of a newer version.",
        ],
        options: CommandOption.table(["dry-run": "Show the plan, and change nothing."]) + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink migrate --dry-run": "Show what the new version will change in the database."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
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
