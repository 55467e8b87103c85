internal import Attribution
internal import Server

/// The command `afterlink links create`.
enum CreateLinkCommand {
    static let description = CommandDescription(
        name: "links create",
        summary: "Make a short link",
        discussion: [
            "Makes a short link for a campaign. Checks everything at once: a destination that released apps would lose,"
                + " a scheme or a page that is not the app's, a preview that would be cut off.",
            "Without SLUG, generates one that cannot be guessed. Slugs are case-sensitive.",
        ],
        operands: [
            CommandDescription.Operand(
                placeholder: "SLUG",
                isRequired: false,
                help: "What stands behind the link host, as in summer25 or go/summer25."
            )
        ],
        options: [AppChoice.option] + LinkOptions.all + [.json],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links create summer25 --destination shopapp://promo/summer --campaign-key SUMMER25":
                "A link into the app, counted under a campaign.",
            "afterlink links create --variant 'a 50 shopapp://promo/a' --variant 'b 50 shopapp://promo/b'":
                "Half of the visitors get the one, half the other.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        var fields = LinkFields()
        LinkOptions.apply(arguments, to: &fields)
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation))
        defer { database.close() }
        let directory = try database.directory()
        let app = try AppChoice.find(arguments.value("app"), in: directory)
        let new = try LinkDraft.link(
            arguments.operands.first,
            fields,
            of: app,
            in: directory,
            at: WallClock.system.now(),
            random: .system
        )
        try await database.links.create([new])
        LinkTable.show(LinkListing(link: new.link), invocation, in: directory)
        return .success
    }
}
