internal import Attribution
internal import JSON
internal import Server
internal import Storage

/// The move of an SQLite file to a PostgreSQL database: `afterlink migrate --from`.
struct DatabaseMove {
    private let invocation: Invocation
    private let source: Configuration
    private let target: Configuration

    private static let prefix = "sqlite:"

    /// - Parameters:
    ///   - invocation: the call.
    ///   - text: the value of `--from`.
    /// - Throws: a failure of usage.
    init(_ invocation: Invocation, from text: String) throws {
        let call = "Write `afterlink migrate --from sqlite:PATH --to postgres://user@host/database`."
        guard text.hasPrefix(Self.prefix),
            let path = ValueText.path(String(text.dropFirst(Self.prefix.count)))
        else { throw CommandFailure.usage("--from must be sqlite: and the path of a file.").advising(call) }
        guard !invocation.arguments.has("dry-run") else {
            throw CommandFailure.usage("--dry-run does not go with --from.")
                .advising("`afterlink verify --database PATH` examines the file before its move.")
        }
        self.invocation = invocation
        var target = try Self.target(invocation)
        guard target.isOnServer else {
            throw CommandFailure.usage("A move needs a PostgreSQL database.").advising(call)
        }
        var source = target
        (source.database, source.secretFile) = (path, nil)
        // By default the servers use the key files of the SQLite database in their present folder.
        target.serverKeyFile = source.serverKeyPath
        (self.source, self.target) = (source, target)
    }

    /// Reads the settings, with the URL of `--to` as the database.
    private static func target(_ invocation: Invocation) throws -> Configuration {
        var environment = invocation.environment
        if let url = invocation.arguments.value("to") {
            let advice = "Nothing was done. Correct it and run the command again."
            // The failures do not repeat the URL, which may contain a password.
            guard !invocation.arguments.has("database") else {
                throw CommandFailure.usage("--to and --database both name the target.").advising(advice)
            }
            guard DatabaseURL.scheme(of: url) != nil else {
                throw CommandFailure.usage("--to must be as in postgres://user@host/database.").advising(
                    advice
                )
            }
            guard !DatabaseURL.hasPassword(url) else {
                throw CommandFailure.usage("--to \(DatabaseURL.visiblePassword).").advising(advice)
            }
            if let fault = DatabaseURL.fault(of: url) {
                throw CommandFailure.usage("--to \(fault)\(fault.hasSuffix(".") ? "" : ".")").advising(advice)
            }
            environment["AFTERLINK_DATABASE"] = url
        }
        let (command, arguments) = (invocation.command, invocation.arguments)
        return try ConfigurationReader.read(
            Invocation(command: command, arguments: arguments, environment: environment)
        )
    }

    func run() throws {
        let keys = try requireSource()
        var line = ProgressLine()
        let (report, isInKeyring) = try attempt(orElse: Self.refusal) {
            let database = Wiring.database(target)
            // Until the end, no process can serve the file.
            let rows = try Wiring.database(source).moveSource()
            defer { withExtendedLifetime(rows) {} }
            let report = try database.fill(from: rows) { text in line.update("moving \(text)") }
            line.finish()
            guard report.differences.isEmpty else { throw differing(report) }
            // If this process ends before the keys are stored, no server starts, and the next run stores them.
            try store(keys)
            try database.finishFilling()
            return (report, target.secretFile != nil)
        }
        invocation.show(text(report, isInKeyring: isInKeyring), json: json(report, isInKeyring: isInKeyring))
    }

    /// Requires that no process has the file open, that the file is up to date, and that its keys are there.
    ///
    /// - Returns: its server keys.
    private func requireSource() throws -> ServerKeyList {
        try CommandDatabase.require(source)
        let name = source.databaseName
        if let holder = Wiring.database(source).holder() {
            throw CommandFailure.because(
                "\(holder > 0 ? "Process \(holder)" : "Another process") has \(name) open."
            ).advising(
                "Stop the service, run the command again, and start the service with the new database."
            )
        }
        let advice = "Run `afterlink migrate --database \(ShellWord.quoted(name))` first."
        try CommandDatabase.requireCurrent(source, advice)
        let report = try CommandDatabase.explaining(source) { try $0.survey() }
        let keys = try KeyCopy(server: target.serverKeyPath)
        try attempt(orElse: Self.refusal) {
            try keys.confirm(
                report.summary,
                orElse:
                    "\(target.serverKeyPath) is not the server key of \(name); name it with --server-key-file"
            )
        }
        guard TextFile.exists(target.addressKeyPath) else {
            throw CommandFailure.because("The address keys \(target.addressKeyPath) are missing.")
                .advising(
                    "Copy the database's address keys there: servers expect both key files in one folder."
                )
        }
        return keys.server
    }

    /// Copies the file's keys into the database if there is a secret for them; requires that the servers'
    /// keys include the file's.
    private func store(_ keys: ServerKeyList) throws {
        _ = try target.keySource().load(databaseIsNew: false, at: WallClock.system.now()) { list in
            list.holds(keys) ? .own(missing: 0) : .foreign
        }
    }

    private func text(_ report: MoveReport, isInKeyring: Bool) -> String {
        var table = Table([("TABLE", .left), ("ROWS", .right)])
        for count in report.counts { table.add([count.name, "\(count.found)"]) }
        let (server, addresses) = (target.serverKeyPath, target.addressKeyPath)
        let keys =
            isInKeyring
            ? "The keys are in the database, encrypted: start every server with --secret-file."
            : "Copy \(server) and \(addresses) to every server, with mode 0600, and name the first one with"
                + " --server-key-file."
        return """
            \(table.text)

            Moved \(source.databaseName) to \(target.databaseName); each table has as many rows as before.
            \(keys)
            Do not serve \(source.databaseName) again: the two databases would match a click twice.
            """
    }

    private func json(_ report: MoveReport, isInKeyring: Bool) -> String {
        JSONWriter.text { json in
            json.member("from", source.databaseName)
            json.member("to", target.databaseName)
            json.member("keys", isInKeyring ? "database" : "files")
            json.objects("tables", report.counts) { json, count in
                json.member("name", count.name)
                json.member("rows", count.found)
            }
        }
    }

    private func differing(_ report: MoveReport) -> CommandFailure {
        let lines = report.differences.map { "  \($0.name): \($0.found) rows instead of \($0.expected)" }
        return CommandFailure.because(
            "The move is not finished, because tables differ:\n\(lines.joined(separator: "\n"))"
        ).advising(
            "Run `afterlink verify --database \(ShellWord.quoted(source.databaseName))`. If the file is whole, move it into"
                + " an empty database."
        )
    }

    private static func refusal(_ error: StoreError) -> CommandFailure {
        let advice: String
        switch error.code {
        case .conflict:
            advice =
                "Give the URL of an empty database; an unfinished move continues only from the same, unchanged file."
        case .locked: advice = "End the processes that use the databases, and run the command again."
        case .incompatible, .unsupported: advice = "Nothing was moved. Correct it and run the command again."
        case .stopping, .timedOut, .overloaded: advice = "Run the command again: it continues the move."
        default: return CommandFailure(error)
        }
        return CommandFailure("The database was not moved: \(error.explanation).", advice: advice)
    }
}
