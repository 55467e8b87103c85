internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink sessions list`.
enum ListSessionsCommand {
    static let description = CommandDescription(
        name: "sessions list",
        summary: "Show who is signed in to the dashboard",
        discussion: [
            "Prints the sessions that have not ended, the newest first, with the key that signed in; a session without a key"
                + " was started by a link of `afterlink dashboard`."
        ],
        options: [.json],
        settings: CommandDatabase.settings,
        examples: ["afterlink sessions list": "Show the open sessions."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let sessions = try await open(in: database)
        let json = JSONWriter.text { json in
            json.objects("sessions", sessions) { json, session in
                json.member("id", session.id)
                json.member("key", session.key?.text)
                json.member("created_at", session.createdAt.iso8601)
                json.member("used_at", session.usedAt.iso8601)
                json.member("expires_at", session.expiresAt.iso8601)
            }
        }
        let table = sessions.table([
            .left("ID", \.id), .left("KEY") { $0.key?.text ?? "–" }, .left("SINCE", \.createdAt.iso8601),
            .left("LAST USED", \.usedAt.iso8601), .left("EXPIRES", \.expiresAt.iso8601),
        ])
        invocation.show(table, json: json)
    }

    fileprivate static func open(in database: CommandDatabase) async throws -> [DashboardSession] {
        let (directory, now) = (try database.directory(), WallClock.system.now())
        return try await database.sessions.sessions().filter { $0.isOpen(in: directory, at: now) }
    }
}

/// The command `afterlink sessions end`.
enum EndSessionsCommand {
    static let description = CommandDescription(
        name: "sessions end",
        summary: "Sign a browser out of the dashboard",
        discussion: ["Ends a session, or all of them. The browser's next request leads to the sign-in form."],
        operands: [.optional("SESSION", "The session's id, as `afterlink sessions list` shows it.")],
        options: CommandOption.table(["all": "End all sessions."]) + [.jsonObject],
        settings: CommandDatabase.settings,
        examples: ["afterlink sessions end --all": "Sign everybody out."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let (id, isAll) = (invocation.arguments.operands.first, invocation.arguments.has("all"))
        guard (id == nil) == isAll else {
            throw CommandFailure.usage("The command needs the id of a session, or --all.")
                .advising("`afterlink sessions list` shows the ids.")
        }
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let ended = try await ListSessionsCommand.open(in: database).filter { isAll || $0.id == id }
        guard isAll || !ended.isEmpty else {
            throw CommandFailure.because("There is no open session \(id ?? "").")
                .advising("`afterlink sessions list` shows all of them.")
        }
        for session in ended { try await database.sessions.end(session.digest, by: .commandLine) }
        let ids = ended.map(\.id)
        let text = ids.isEmpty ? "No session was open." : "Ended \(ids.joined(separator: ", "))."
        invocation.show(text, json: JSONWriter.text { $0.member("ended", ids) })
    }
}
