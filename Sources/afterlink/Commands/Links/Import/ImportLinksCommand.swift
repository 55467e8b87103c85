internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink links import`.
enum ImportLinksCommand {
    static let description = CommandDescription(
        name: "links import",
        summary: "Make the links of a CSV or JSON file",
        discussion: [
            "Reads what `afterlink links export` writes, or a table of your own: a first line with names of columns, such"
                + " as slug,destination,campaign_key,tags, and a link a line. Lists stand in one cell, tags with commas"
                + " between them, variants with |.",
            "Every line is checked as `afterlink links create` checks a link. Those that something is wrong with are"
                + " named with what to do, and the others are made; with --all-or-nothing none is made then. Running it"
                + " again makes no link twice: a slug that is there is refused.",
            "With --from it reads what another service has exported, and keeps the slugs: the table of Firebase's Dynamic"
                + " Links that Google Takeout gives for each domain, or Branch's quick links. What has no meaning here is"
                + " counted at the end, column by column.",
        ],
        operands: [.required("FILE", "The file, in UTF-8.")],
        options: CommandOption.table([
            "app APP": "Whose links they are where a line has no app, by id or name.",
            "from firebase|branch": "Whose export the file is, where it is not Afterlink's own.",
            "all-or-nothing": "Make no link where anything is wrong with one of them.",
            "check": "Report what is wrong, and make no link.",
            "json": "Print what became of every line as JSON.",
        ]),
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links import links.csv --check": "Would all lines be accepted?",
            "afterlink links import links.csv --all-or-nothing": "Make all links of the file, or none.",
            "afterlink links import example.page.link.csv --from firebase --check":
                "What would become of the links of a Firebase project?",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let service = try arguments.value("from").map { text in
            guard let service = LinkService(rawValue: text) else {
                let known = LinkService.allCases.map(\.rawValue).joined(separator: " or ")
                throw CommandFailure.wrongValue("from", text, "must be \(known)")
            }
            return service
        }
        let file = try LinkFile(arguments.operands.first ?? "", of: service)
        let database = try CommandDatabase.open(invocation)
        defer { database.close() }
        let directory = try database.directory()
        let app = try app(arguments, directory)
        var work = LinkImport(into: database, directory, app: app, isNamed: arguments.value("app") != nil)
        try await work.run(
            file,
            allOrNothing: arguments.has("all-or-nothing"),
            isTrial: arguments.has("check")
        )
        Console.print(arguments.has("json") ? json(work) : text(work, file, arguments))
        return work.refusedCount == 0 ? .success : .failed
    }

    /// The only app there is, where none is named.
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
        if arguments.has("check") {
            lines.append(
                "Nothing was made. \(work.outcomes.count - work.refusedCount) links could be made, \(work.refusedCount) not."
            )
        } else {
            lines.append("Made \(work.madeCount) links; \(work.refusedCount) were refused.")
        }
        return lines.joined(separator: "\n")
    }

    private static func json(_ work: LinkImport) -> String {
        JSONWriter.text { json in
            json.member("made", work.madeCount)
            json.member("refused", work.refusedCount)
            if !work.remarks.sentences.isEmpty { json.member("remarks", work.remarks.sentences) }
            json.list("lines", work.outcomes) { outcome, json in write(outcome, to: &json) }
        }
    }

    private static func write(_ outcome: LinkImport.Outcome, to json: inout JSONWriter) {
        json.object { json in
            json.member("line", outcome.number)
            json.member("slug", outcome.slug)
            json.member("id", outcome.id?.text)
            guard !outcome.problems.isEmpty else { return }
            json.objects("errors", outcome.problems) { problem, json in
                json.member("field", problem.field)
                json.member("message", problem.message)
            }
        }
    }
}
