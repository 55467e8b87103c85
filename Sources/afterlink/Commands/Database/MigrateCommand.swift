internal import JSON
internal import Server
internal import Storage

/// The command `afterlink migrate`.
enum MigrateCommand {
    static let description = CommandDescription(
        name: "migrate",
        summary: "Bring the database's tables up to this version",
        discussion: [
            "Applies the migrations that the database does not have yet, each in a transaction, after a copy of it"
                + " was made beside it. `afterlink serve` does the same at its start; this command shows the plan"
                + " first, and separates the two steps.",
            "A database of a newer version is refused.",
        ],
        options: CommandOption.table(["dry-run": "Show the plan, and change nothing."]) + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink migrate --dry-run": "What will the new version do to the database?"],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let plan = try CommandDatabase.migrationPlan(configuration)
        let isDryRun = invocation.arguments.has("dry-run")
        if !isDryRun, !plan.pending.isEmpty {
            try CommandDatabase.openOrMake(configuration).close()
        }
        Console.print(
            invocation.arguments.has("json") ? json(plan, isDryRun: isDryRun) : text(plan, isDryRun: isDryRun)
        )
        return .success
    }

    private static func text(_ plan: MigrationPlan, isDryRun: Bool) -> String {
        var table = Table([("MIGRATION", .left), ("STATE", .left)])
        for name in plan.applied { table.add([name, "there"]) }
        for name in plan.pending { table.add([name, isDryRun ? "to be applied" : "applied"]) }
        guard !plan.pending.isEmpty else { return table.text + "\n\nThe database is up to date." }
        guard let path = plan.backupPath else { return table.text }
        return table.text + "\n\nThe database \(isDryRun ? "would be" : "was") copied before, to \(path)."
    }

    private static func json(_ plan: MigrationPlan, isDryRun: Bool) -> String {
        JSONWriter.text { json in
            json.member("applied") { write(plan.applied + (isDryRun ? [] : plan.pending), to: &$0) }
            json.member("pending") { write(isDryRun ? plan.pending : [], to: &$0) }
            json.member("backup", plan.backupPath)
        }
    }

    private static func write(_ names: [String], to json: inout JSONWriter) {
        json.array { json in
            for name in names { json.value(name) }
        }
    }
}
