internal import Attribution
internal import JSON

/// The command `afterlink links import`.
enum ImportLinksCommand {
    static let description = CommandDescription(
        name: "links import",
        summary: "Create the links of a CSV or JSON file",
        discussion: [
            "Reads a file of `afterlink links export`, or your own table: a first line with names of columns, such as"
                + " slug,destination,campaign_key,tags, and a line for each link. A list is one cell, tags with commas"
                + " between them, variants with |.",
            "Validates every line as `afterlink links create` does. It names each wrong line with its remedy and creates the"
                + " other links; with --all-or-nothing, a wrong line prevents all. A second run refuses the slugs that exist;"
                + " only lines without a slug create their links again.",
            "With --from it reads the export of another service and keeps the slugs: the table of Firebase's Dynamic Links"
                + " that Google Takeout writes for each domain, or Branch's quick links. It counts the values that links"
                + " have no field for, column by column.",
        ],
        operands: [.required("FILE", "The file, in UTF-8.")],
        options: CommandOption.table([
            "app APP": "The app of lines without an app, by id or name.",
            "from firebase|branch": "Read an export of this service.",
            "all-or-nothing": "Create no link if a line is wrong.",
            "check": "Report wrong lines, and create no link.",
            "json": "Print the result of every line as JSON.",
        ]),
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links import links.csv --check": "Validate all lines.",
            "afterlink links import links.csv --all-or-nothing": "Create all links of the file, or none.",
            "afterlink links import example.page.link.csv --from firebase --check":
                "Try the import of the links of a Firebase project.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let known = LinkService.allCases.map(\.rawValue).joined(separator: " or ")
        let service = try arguments.read("from", "must be \(known)") { LinkService(rawValue: $0) }
        let file = try LinkFile(arguments.operands.first ?? "", of: service)
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let directory = try database.directory()
        let app = try app(arguments, directory)
        var work = LinkImport(into: database, directory, app: app, isNamed: arguments.value("app") != nil)
        let allOrNothing = arguments.has("all-or-nothing")
        try await work.run(file, allOrNothing: allOrNothing, isTrial: arguments.has("check"))
        invocation.show(text(work, file, arguments), json: json(work))
        if work.refusedCount > 0 { throw ExitCode.failed }
    }

    /// Returns the app that `--app` names, or else the only app; nil if there are several.
    private static func app(_ arguments: Arguments, _ directory: Directory) throws -> App? {
        guard arguments.value("app") != nil || directory.apps.count == 1 else { return nil }
        return try AppChoice.find(arguments.value("app"), in: directory)
    }

    private static func text(_ work: LinkImport, _ file: LinkFile, _ arguments: Arguments) -> String {
        var lines: [String] = []
        for outcome in work.outcomes {
            for problem in outcome.problems {
                let name = outcome.slug.map { " (\($0))" } ?? ""
                lines.append("\(file.unit) \(outcome.number)\(name): \(problem.message)")
            }
        }
        lines += work.remarks.sentences
        let (good, refused) = (work.outcomes.count - work.refusedCount, work.refusedCount)
        lines.append(
            arguments.has("check")
                ? "No link was created. \(ImportRemarks.links(good)) could be created, \(refused) not."
                : "Created \(ImportRemarks.links(work.madeCount)); \(refused) \(refused == 1 ? "was" : "were") refused."
        )
        return lines.joined(separator: "\n")
    }

    private static func json(_ work: LinkImport) -> String {
        JSONWriter.text { json in
            json.member("made", work.madeCount)
            json.member("refused", work.refusedCount)
            if !work.remarks.sentences.isEmpty { json.member("remarks", work.remarks.sentences) }
            json.objects("lines", work.outcomes) { json, outcome in
                json.member("line", outcome.number)
                json.member("slug", outcome.slug)
                json.member("id", outcome.id?.text)
                guard !outcome.problems.isEmpty else { return }
                json.objects("errors", outcome.problems) { json, problem in
                    json.member("field", problem.field)
                    json.member("message", problem.message)
                }
            }
        }
    }
}
