internal import Attribution
internal import Server

/// The command `afterlink keys revoke`.
enum RevokeKeyCommand {
    static let description = CommandDescription(
        name: "keys revoke",
        summary: "Revoke a key",
        discussion: [
            "Requests with the key get 401; a serving process follows within half a second. No click is"
                + " lost."
        ],
        operands: [
            CommandDescription.Operand(
                placeholder: "KEY",
                isRequired: true,
                help: "the key's id, key_…, as `afterlink keys list` shows it."
            )
        ],
        options: [CommandOption("json", help: "Print a JSON object instead.")],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink keys revoke key_01jz8w6t7n3k5m9q2r4v6x8y0z": "The phone with the key was lost."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        guard let text = invocation.arguments.operands.first, let id = KeyID(text) else {
            throw CommandFailure(
                .usage,
                "A key is named by its id, which begins with key_.",
                advice:
                    "`afterlink keys list` shows the ids. The secret text itself belongs on no command line."
            )
        }
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation))
        defer { database.close() }
        guard let key = try database.directory().keys.first(where: { $0.id == id }) else {
            throw CommandFailure(
                "There is no key \(id.text).",
                advice: "`afterlink keys list` shows those there are."
            )
        }
        let now = WallClock.system.now()
        try await database.apps.revoke(id, at: now)
        var revoked = key
        revoked.revokedAt = key.revokedAt ?? now
        if invocation.arguments.has("json") {
            Console.print(KeyListing.json([revoked], at: now))
        } else if let before = key.revokedAt {
            Console.print("\(id.text) was revoked before, at \(before.iso8601).")
        } else {
            Console.print("Revoked \(id.text).")
        }
        return .success
    }
}
