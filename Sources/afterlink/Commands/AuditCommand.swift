internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink audit`.
enum AuditCommand {
    static let description = CommandDescription(
        name: "audit",
        summary: "Show who has changed apps, keys, links, endpoints, models and sessions, or erased data",
        discussion: [
            "Prints the changes by the dashboard, the admin API and commands, the newest first, with the fields that differ."
                + " --audit-retention sets how long they are stored.",
            "The actor of a command is the system's user who ran the command.",
        ],
        options: CommandOption.table([
            "app APP": "Only changes of this app, its keys and its links, by id or name.",
            "actor ACTOR":
                "Only changes by this key (key_…), this user, or this kind: key, session or command.",
            "action ACTION": "Only changes of this kind, such as link.set.",
            "since TIME": "Only changes from this time on: 2027-01-31 or 2027-01-31T12:00:00Z.",
            "until TIME": "Only changes before this time.",
            "limit N": "The maximum number of changes. Default: 100.",
        ]) + [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink audit --action key.revoke --since 2027-01-31": "Show who has revoked keys."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        var query = AuditQuery()
        query.actor = arguments.value("actor")
        query.action = try arguments.word("action")
        (query.since, query.until) = (try arguments.moment("since"), try arguments.moment("until"))
        let count = try arguments.limit ?? AuditQuery.standardLimit
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        query.app = try AppChoice.named(arguments, in: directory)?.id
        let page = try await page(query, atMost: count, in: database)
        let json = JSONWriter.text { AuditBody.write(page, to: &$0) }
        invocation.show(table(page.entries, in: directory), json: json)
    }

    private static func page(_ query: AuditQuery, atMost count: Int, in database: CommandDatabase)
        async throws -> AuditPage
    {
        var (query, all) = (query, AuditPage(entries: [], next: nil))
        repeat {
            query.limit = min(count - all.entries.count, AuditQuery.limits.upperBound)
            let page = try await database.audit.audit(query)
            all.entries += page.entries
            (all.next, query.before) = (page.next, page.next)
        } while query.before != nil && all.entries.count < count
        return all
    }

    private static func table(_ entries: [AuditEntry], in directory: Directory) -> String {
        entries.table([
            .left("TIME", \.at.iso8601),
            .left("BY") { "\($0.actor.kind) \($0.actor.name)" },
            .left("ACTION", \.action),
            .left("APP") { $0.app.map { directory.app($0)?.settings.name ?? $0.text } ?? "–" },
            .left("SUBJECT") { $0.subject.isEmpty ? "–" : $0.subject },
            .left("BEFORE", \.before),
            .left("AFTER", \.after),
        ])
    }
}
