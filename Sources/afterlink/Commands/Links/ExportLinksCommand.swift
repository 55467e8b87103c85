internal import Attribution
internal import Glibc
internal import Server

/// The command `afterlink links export`.
enum ExportLinksCommand {
    static let description = CommandDescription(
        name: "links export",
        summary: "Write all links as CSV or JSON",
        discussion: [
            "Writes every link, the newest first, archived ones too, with all that was said of it and what came of it."
                + " `afterlink links import` reads both forms.",
            "In CSV a cell that a spreadsheet would take for a formula has an apostrophe before it, which an import"
                + " drops again.",
        ],
        options: [
            CommandOption("app", "APP", help: "Only those of this app, by id or name."),
            CommandOption("format", "csv|json", help: "The form; csv if it is not given."),
            CommandOption("output", "FILE", help: "A new file to write to, instead of standard output."),
        ],
        settings: CommandDatabase.settings,
        examples: [
            "afterlink links export --output links.csv": "For a spreadsheet, or for another server."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let format = arguments.value("format") ?? "csv"
        guard ["csv", "json"].contains(format) else {
            throw CommandFailure.wrongValue("format", format, "must be csv or json")
        }
        let database = try CommandDatabase.open(ConfigurationReader.read(invocation), for: .reading)
        defer { database.close() }
        let directory = try database.directory()
        var query = LinkQuery(isArchived: nil, limit: LinkQuery.limits.upperBound)
        query.app = try arguments.value("app").map { text in
            try AppChoice.find(text, in: directory).id
        }
        let output = try ExportOutput(arguments.value("output"))
        try output.write(format == "csv" ? CSVText.line(LinkColumns.header) : "{\"links\":[")
        var isFirst = true
        repeat {
            let page = try await database.links.links(query)
            for listing in page.links {
                let app = directory.app(listing.link.app)
                if format == "csv" {
                    try output.write(CSVText.line(LinkColumns.cells(listing, of: app)))
                } else {
                    var json = JSONWriter()
                    LinkBody(listing, of: app, at: WallClock.system.now()).write(to: &json)
                    try output.write((isFirst ? "\n" : ",\n") + json.text)
                }
                isFirst = false
            }
            query.before = page.next
        } while query.before != nil
        if format == "json" { try output.write("\n]}\n") }
        return .success
    }
}

/// The destination of an export, written byte by byte, so that an import reads it back unchanged.
private struct ExportOutput {
    private let file: NewFile?

    /// - Throws: where the file is there already.
    init(_ path: String?) throws {
        file = try path.map { path in try NewFile(path) }
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard let file else {
            guard Console.write(bytes, to: STDOUT_FILENO) else {
                throw CommandFailure.lostOutput("standard output is closed or full")
            }
            return
        }
        try file.write(bytes)
    }
}
