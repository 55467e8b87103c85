internal import Attribution
internal import Glibc
internal import Server
internal import Storage

/// The command `afterlink restore`.
enum RestoreCommand {
    static let description = CommandDescription(
        name: "restore",
        summary: "Restore a backup as the database",
        discussion: [
            "Copies a backup to where the database belongs, reads all of the copy, and gives it the database's name"
                + " when it is on disk; then its key. The backup stays as it is. Refused while a service has the"
                + " database open.",
            "With --overwrite, a database that is there is kept beside under a name with the time.",
        ],
        operands: [
            CommandDescription.Operand(
                placeholder: "BACKUP",
                isRequired: true,
                help:
                    "What `afterlink backup` wrote; its keys are expected at BACKUP.key and BACKUP.address-key."
            )
        ],
        options: [
            CommandOption("overwrite", help: "Move a database that is there aside."),
            CommandOption(
                "without-server-key",
                help: "Restore without a key; the service does not start before it"
                    + " is there."
            ),
            CommandOption("json", help: "Print a JSON object instead."),
        ],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink restore /var/backups/afterlink.db --database /var/lib/afterlink/afterlink.db"
                + " --overwrite": "Back to last night; what was there until now is kept beside."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let configuration = try ConfigurationReader.read(invocation)
        let backup = arguments.operands.first ?? ""
        try TextFile.requireReach(of: backup)
        guard TextFile.exists(backup) else {
            throw CommandFailure(
                "There is no backup at \(backup).",
                advice: "Give the path that `afterlink backup` was given."
            )
        }
        try attempt {
            try Wiring.checkIsDatabase(backup)
        } orElse: {
            refusal($0)
        }
        let key = try arguments.has("without-server-key") ? nil : key(of: backup, configuration)
        let suffix = ".replaced-" + WallClock.system.now().iso8601.filter { !"-:.".contains($0) }
        let isReplacing = arguments.has("overwrite")
        try refuseOtherKey(key, at: configuration.serverKeyPath, isReplacing: isReplacing)
        try CommandDatabase.prepareDirectory(configuration)
        let signals = StopSignals()
        let (copy, aside) = try attempt {
            let copy = try Wiring.restore(
                backup,
                to: configuration,
                movingAside: suffix,
                mayReplace: isReplacing,
                unless: { signals.isPending },
                check: { summary throws(StoreError) in try confirm(key, summary) }
            )
            return (copy, try copy.publish())
        } orElse: {
            refusal($0)
        }
        let asidePath = configuration.databasePath + suffix
        try put(key, at: configuration.serverKeyPath, aside: asidePath + ".key", hasReplaced: aside != nil)
        try putAddresses(key, at: configuration.addressKeyPath, aside: asidePath + KeyCopy.addressSuffix)
        let outcome = Outcome(configuration.databasePath, backup, aside, copy.summary, hasKey: key != nil)
        Console.print(arguments.has("json") ? outcome.json : outcome.text)
        return .success
    }

    /// The key beside the backup, or the one that is where the database's belongs.
    private static func key(
        of backup: String,
        _ configuration: Configuration
    ) throws -> KeyCopy {
        let paths = [backup + ".key", configuration.serverKeyPath]
        guard let path = paths.first(where: TextFile.exists) else {
            throw CommandFailure(
                "There is no server key, neither at \(paths[0]) nor at \(paths[1]): without it, nothing in the"
                    + " restored database can be found.",
                advice:
                    "Put the key beside the backup. --without-server-key restores without it; the service does not"
                    + " start before it is there."
            )
        }
        return try KeyCopy(server: path, addresses: backup + KeyCopy.addressSuffix)
    }

    private static func confirm(_ key: KeyCopy?, _ summary: DatabaseSummary) throws(StoreError) {
        guard let key, summary.fits(key.keys) == false else { return }
        throw StoreError(
            .incompatible,
            "the server key is not the one that the backup was made with: put its own beside it, as BACKUP.key"
        )
    }

    private static func refuseOtherKey(
        _ key: KeyCopy?,
        at path: String,
        isReplacing: Bool
    ) throws {
        guard let key, !isReplacing, TextFile.exists(path), !holds(path, key) else { return }
        throw CommandFailure(
            "\(path) holds another server key than the backup's.",
            advice:
                "Move it away, name another place with --server-key-file, or use --overwrite, which keeps it beside."
        )
    }

    /// Whether a file holds every key of the backup: then there has been a rotation since, or none.
    private static func holds(_ path: String, _ key: KeyCopy) -> Bool {
        KeyCopy.text(at: path).flatMap { ServerKeyList($0) }?.holds(key.server) ?? false
    }

    /// Restores the address keys: without those of the backup, the addresses of its live clicks are compared with none.
    private static func putAddresses(_ key: KeyCopy?, at path: String, aside: String) throws {
        guard let text = key?.addresses, KeyCopy.text(at: path) != text else { return }
        if let former = KeyCopy.text(at: path) { try KeyCopy.put(former, at: aside) }
        try KeyCopy.put(text, at: path)
    }

    private static func put(_ key: KeyCopy?, at path: String, aside: String, hasReplaced: Bool)
        throws
    {
        guard let key else { return }
        if holds(path, key) {
            // What was moved aside can be opened where it lies, too.
            if hasReplaced, !TextFile.exists(aside), let text = KeyCopy.text(at: path) {
                try KeyCopy.put(text, at: aside)
            }
            return
        }
        if TextFile.exists(path) {
            try attempt {
                try TextFile.rename(path, to: aside)
            } orElse: { (error: SystemError) in
                CommandFailure(
                    "The database is restored, but its key could not take the old one's place: \(error.text).",
                    advice: "Move \(path) away and put the backup's key there, with mode 0600."
                )
            }
        }
        try KeyCopy.put(key.server.text, at: path)
    }

    private static func refusal(_ error: StoreError) -> CommandFailure {
        let advice =
            switch error.code {
            case .conflict: "Nothing was changed."
            case .locked:
                "A restore needs the database for itself: stop the service, restore, start it again."
            case .full: "Make room on the database's disk."
            case .incompatible:
                "Nothing was changed. A backup of a newer version needs that version of Afterlink."
            case .corrupted:
                "Nothing was changed. Take another backup; `afterlink verify --database BACKUP` shows more."
            default: "Nothing was changed."
            }
        return CommandFailure("Nothing was restored: \(error.explanation).", advice: advice)
    }

    private struct Outcome {
        let database: String
        let backup: String
        let aside: String?
        let summary: DatabaseSummary
        let hasKey: Bool

        init(_ database: String, _ backup: String, _ aside: String?, _ summary: DatabaseSummary, hasKey: Bool)
        {
            self.database = database
            self.backup = backup
            self.aside = aside
            self.summary = summary
            self.hasKey = hasKey
        }

        var text: String {
            var lines = ["Restored \(summary.text) to \(database)."]
            lines.append(
                "The newest click is of \(summary.newestClickAt?.iso8601 ?? "no time: there is none")."
            )
            if let aside { lines.append("What was there before is kept at \(aside).") }
            if !hasKey {
                lines.append("The service does not start before the database's server key is in its place.")
            }
            if !summary.pendingMigrations.isEmpty {
                lines.append(
                    "It is of an older version: `afterlink migrate`, or the next start, applies"
                        + " \(summary.pendingMigrations.joined(separator: ", "))."
                )
            }
            return (lines + ["`afterlink serve` starts the service."]).joined(separator: "\n")
        }

        var json: String {
            var json = JSONWriter()
            json.object { json in
                json.member("database", database)
                json.member("backup", backup)
                json.member("replaced", aside)
                json.member("has_server_key", hasKey)
                summary.write(to: &json)
                json.member("pending") { json in
                    json.array { json in
                        for name in summary.pendingMigrations { json.value(name) }
                    }
                }
            }
            return json.text
        }
    }
}
