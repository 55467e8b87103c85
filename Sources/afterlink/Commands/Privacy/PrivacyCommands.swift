internal import Attribution
internal import JSON
internal import Server

/// The command `afterlink held`.
enum ShowHeldDataCommand {
    static let description = CommandDescription(
        name: "held",
        summary: "Print what is stored, in all or about a click, fingerprint, installation, user or address",
        discussion: [
            "Prints every stored field of the clicks, checks and events of an app that the value finds, as JSON. An address,"
                + " or its network such as 203.0.113.0/24, is found as long as the key of its day is stored: until the last"
                + " click of that day can no longer be matched.",
            "Without a value, it prints the number of rows of each table with data of persons, for all apps together, and the"
                + " time of the oldest.",
            "The values are in the process list while the command runs.",
        ],
        options: SubjectOptions.all + [.json],
        settings: SubjectOptions.settings,
        examples: [
            "afterlink held --click-id clk_01jz8w6t7n3k5m9q2r4v6x8y0z":
                "Print this click, its claim and its checks.",
            "afterlink held": "Count the rows of each table with data of persons.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        guard SubjectOptions.all.contains(where: { invocation.arguments.has($0.name) }) else {
            return try await showTables(invocation)
        }
        let (database, subject) = try SubjectOptions.open(invocation, isReading: true)
        defer { database.close() }
        Console.print(PrivacyBody.json(try await database.privacy.held(subject), of: subject).text)
    }

    private static func showTables(_ invocation: Invocation) async throws {
        let database = try CommandDatabase.open(invocation, for: .reading)
        defer { database.close() }
        let holdings = try await database.privacy.holdings()
        let json = JSONWriter.text { json in
            json.objects("tables", holdings) { json, holding in
                json.member("table", holding.table)
                json.member("rows", holding.count)
                json.member("complete", holding.isComplete)
                json.member("oldest", orNull: holding.oldest?.iso8601)
            }
        }
        let table = holdings.table([
            .left("TABLE", \.table), .right("ROWS") { "\($0.count)\($0.isComplete ? "" : "+")" },
            .left("OLDEST") { $0.oldest?.iso8601 ?? "–" },
        ])
        invocation.show(table, json: json)
    }
}

/// The command `afterlink erase`.
enum EraseCommand {
    static let description = CommandDescription(
        name: "erase",
        summary: "Delete what is stored about a click, fingerprint, installation, user or address",
        discussion: [
            "Deletes the clicks and checks of an app that the value finds, and everything that refers to them, also while"
                + " the service runs. Prints how many rows of each table were deleted, and records the erasure"
                + " without the value.",
            "Backups, archives of the database's log and exported files keep their copies: see the article"
                + " KeysAndBackups.",
            "The values are in the process list while the command runs.",
        ],
        options: SubjectOptions.all
            + CommandOption.table(["dry-run": "Count the rows, and delete nothing."]) + [.json],
        settings: SubjectOptions.settings,
        examples: [
            "afterlink erase --install-id 7f3c2a --dry-run": "Count what is stored about this installation.",
            "afterlink erase --address 203.0.113.7": "Erase the clicks and checks from this address.",
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let isDryRun = invocation.arguments.has("dry-run")
        let (database, subject) = try SubjectOptions.open(invocation, isReading: isDryRun)
        defer { database.close() }
        guard !isDryRun else {
            let held = try await database.privacy.held(subject)
            let more = held.isComplete ? "" : "There are more: this is the first part.\n"
            let json = PrivacyBody.json(dryRun: held, of: subject).text
            return invocation.show(table(held.counts) + more + "Nothing was deleted.", json: json)
        }
        let now = WallClock.system.now()
        let record = Erasure(
            id: ErasureID(at: now, random: .system),
            at: now,
            app: subject.app,
            kind: subject.kind,
            actor: .commandLine
        )
        let erasure = try await database.privacy.erase(subject, record)
        let text = table(erasure.counts) + "The erasure is recorded as \(erasure.id.text)."
        invocation.show(text, json: PrivacyBody.json(erasure).text)
        guard erasure.isLogCleared else {
            throw CommandFailure.because("The write-ahead log still has copies of the erased rows.")
                .advising("Other processes were reading. Run the command once more when none is.")
        }
    }

    private static func table(_ counts: PrivacyCounts) -> String {
        var table = Table([("TABLE", .left), ("ROWS", .right)])
        for row in PrivacyCounts.tables { table.add([row.name, String(counts[keyPath: row.count])]) }
        return table.text + "\n"
    }
}

/// The options that identify the data that a command shows or deletes.
private enum SubjectOptions {
    static let all =
        CommandOption.table([
            "click-id ID": "A click, as clk_….",
            "fingerprint HEX": "A fingerprint, 64 hexadecimal digits.",
            "install-id ID": "An installation id, as apps send it in X-Install-ID.",
            "user USER": "A user, as events name them.",
            "address ADDRESS": "An IP address, or its network, as in 203.0.113.0/24.",
        ]) + [AppChoice.option]

    static let settings = CommandDatabase.settings + ["server-key-file", "secret-file"]

    /// Opens the database, and reads the only value that the arguments name.
    static func open(_ invocation: Invocation, isReading: Bool) throws -> (CommandDatabase, DataSubject) {
        let arguments = invocation.arguments
        let values = SubjectKind.allCases.compactMap { kind in
            arguments.value(option(kind)).map { (kind: kind, text: $0) }
        }
        guard values.count == 1, let value = values.first else {
            let names = SubjectKind.allCases.map { "--" + option($0) }.joined(separator: ", ")
            throw CommandFailure.usage("The command needs exactly one value.").advising(
                "Give one of \(names)."
            )
        }
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let now = WallClock.system.now()
        let source = try configuration.keySource()
        let keys = try source.serverKeys().all
        let file = isReading ? (source as? KeyFiles)?.addresses : nil
        let addresses = try file?.read(at: now) ?? source.addressKeys(at: now)
        let database = try CommandDatabase.open(configuration, for: isReading ? .reading : .command)
        do {
            let app = try AppChoice.find(arguments.value("app"), in: try database.directory())
            let subject = try DataSubject(
                value.kind,
                value.text,
                of: app.id,
                keys: keys,
                addresses: addresses,
                at: now
            )
            return (database, subject)
        } catch {
            database.close()
            guard let problem = error as? FieldProblem else { throw error }
            throw CommandFailure.usage(problem.message)
                .advising("`afterlink help \(invocation.command.name)` describes the values.")
        }
    }

    private static func option(_ kind: SubjectKind) -> String { kind.rawValue.replacing("_", with: "-") }
}
