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
            "The link works once, within a minute, and needs no key: who can read the database may sign in. Open it on a"
                + " machine that reaches the dashboard's address; by default only this one does.",
            "Give the same --dashboard-listen as the running service.",
        ],
        options: [.jsonObject],
        settings: CommandDatabase.settings + ["dashboard-listen"],
        examples: ["afterlink dashboard": "Print the link for the dashboard on 127.0.0.1:8081."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        guard let address = configuration.dashboardListen.address, address.address.port != 0 else {
            throw CommandFailure.usage("The link needs the address of the dashboard.")
                .advising(
                    "Give --dashboard-listen with the address that the start of the service has printed."
                )
        }
        let database = try CommandDatabase.open(configuration)
        defer { database.close() }
        let text = Base64URL.text(of: RandomSource.system.exactly(32))
        let now = WallClock.system.now()
        let expiresAt = now.advanced(byMilliseconds: SignInLink.milliseconds)
        try await database.sessions.create(SignInLink(digest: KeyDigest(of: text), expiresAt: expiresAt))
        let url = "\(address.isLoopback ? "http" : "https")://\(address)/enter/\(text)"
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
}
