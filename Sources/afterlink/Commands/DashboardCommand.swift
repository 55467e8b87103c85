internal import Attribution
internal import HTTPServer
internal import JSON
internal import Server

/// The command `afterlink dashboard`.
enum DashboardCommand {
    static let description = CommandDescription(
        name: "dashboard",
        summary: "Print a link that signs in to the dashboard once",
        discussion: [
            "The link works once, within a minute, and needs no key: anyone who can read the database can sign in."
                + " Open it on a machine that reaches the dashboard's address; by default only this one does.",
            "The link leads to the address that the service has stored at its start. With several servers, choose one with"
                + " --server; or give the same --dashboard-listen as the service.",
        ],
        options: CommandOption.table([
            "server N": "The number of the server, if several serve a dashboard."
        ]) + [.jsonObject],
        settings: CommandDatabase.settings + ["dashboard-listen"],
        examples: ["afterlink dashboard": "Print the link for the dashboard on 127.0.0.1:8081."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        let server: Int64? = try invocation.arguments.read("server", "must be the number of a server") {
            ValueText.integer($0, in: 0...Int64(Int32.max))
        }
        // A killed process leaves its address in the file, so use that address only if a process may serve the file.
        let isStored =
            !invocation.arguments.has("dashboard-listen") && CommandDatabase.mayBeServed(configuration)
        let database = try CommandDatabase.open(configuration)
        defer { database.close() }
        let stored = isStored ? try await database.sessions.dashboards() : []
        let start = try Self.start(configuration, stored, server)
        let text = Base64URL.text(of: RandomSource.system.exactly(32))
        let now = WallClock.system.now()
        let expiresAt = now.advanced(byMilliseconds: SignInLink.milliseconds)
        try await database.sessions.create(SignInLink(digest: KeyDigest(of: text), expiresAt: expiresAt))
        let url = "\(start)/enter/\(text)"
        let json = JSONWriter.object { json in
            json.member("url", url)
            json.member("expires_at", expiresAt.iso8601)
        }
        try Console.show(
            invocation.arguments.has("json") ? json.text : url,
            orElse: .because("The link was made, but could not be printed.")
                .advising("Run `afterlink dashboard` again; the first link expires within a minute.")
        )
    }

    /// Returns the start of the dashboard's URLs: a running server's, or else one with the address in the settings.
    private static func start(
        _ configuration: Configuration,
        _ stored: [(server: Int64, url: String)],
        _ server: Int64?
    ) throws -> String {
        if stored.isEmpty, case .named(let address) = configuration.dashboardListen, address.address.port != 0
        {
            return "\(address.isLoopback ? "http" : "https")://\(address)"
        }
        let chosen = stored.filter { server == nil || $0.server == server }
        if let first = chosen.first, chosen.allSatisfy({ $0.server == first.server }) { return first.url }
        let list = stored.map { "\($0.server) at \($0.url)" }.joined(separator: ", ")
        guard chosen.isEmpty else {
            throw CommandFailure.usage("Several servers serve a dashboard: \(list).")
                .advising("Choose one with --server.")
        }
        throw CommandFailure.because(
            list.isEmpty
                ? "No running service has stored the address of its dashboard."
                : "Server \(server ?? 0) serves no dashboard; these do: \(list)."
        )
        .advising(
            list.isEmpty
                ? "Start `afterlink serve`, or give --dashboard-listen with the address that its start has printed."
                : "Give --server with the number of one of these."
        )
    }
}
