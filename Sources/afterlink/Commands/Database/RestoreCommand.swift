internal import Attribution
internal import Glibc
internal import JSON
internal import Server
internal import Storage

/// The command `afterlink restore`.
enum RestoreCommand {
    static let description = CommandDescription(
        name: "restore",
        summary: "Restore a backup as the database",
        discussion: [
            "Copies a backup beside the database, verifies the copy, and gives it the database's name when it is on disk; then"
                + " it copies the keys. The backup does not change. The command fails while a service has the database open.",
            "With --overwrite, it renames the previous database to a name with the time.",
            "Postbacks that were delivered after the backup are sent again, under the same ids. --hold-postbacks holds all"
                + " endpoints, until `afterlink postbacks enable`. It first applies the migrations that the backup"
                + " lacks.",
            "A PostgreSQL database is restored with PostgreSQL's own tools.",
        ],
        operands: [
            .required(
                "BACKUP",
                "A file of `afterlink backup`, with its keys at BACKUP.key and BACKUP.address-key."
            )
        ],
        options: CommandOption.table([
            "overwrite": "Move an existing database aside.",
            "hold-postbacks": "Send no postbacks until their endpoints are enabled.",
            "without-server-key": "Restore without keys; the service does not start without them.",
        ]) + [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink restore /var/backups/afterlink.db --database /var/lib/afterlink/afterlink.db"
                + " --overwrite": "Restore last night's backup, and keep the previous database."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.requireFile(configuration)
        let database = Wiring.database(configuration)
        let backup = arguments.operands.first ?? ""
        try TextFile.requireReach(of: backup)
        guard TextFile.exists(backup) else {
            throw CommandFailure.because("There is no backup at \(backup).")
                .advising("Give the path of a file that `afterlink backup` wrote.")
        }
        try attempt(orElse: refusal) { try database.requireHeader(of: backup) }
        let key = try arguments.has("without-server-key") ? nil : key(of: backup, configuration)
        let suffix = ".replaced-" + WallClock.system.now().iso8601.filter { !"-:.".contains($0) }
        let isReplacing = arguments.has("overwrite")
        if let key, !isReplacing { try refuseOtherKey(key, at: configuration.serverKeyPath) }
        try CommandDatabase.prepareDirectory(configuration)
        let signals = StopSignals()
        let foreign = "the server key is not the backup's: put the backup's key beside it, as BACKUP.key"
        let holdsPostbacks = arguments.has("hold-postbacks")
        var (summary, aside) = try attempt(orElse: refusal) {
            let copy = try database.restore(
                backup,
                movingAside: suffix,
                mayReplace: isReplacing,
                unless: { signals.isPending },
                check: { summary throws(StoreError) in try key?.confirm(summary, orElse: foreign) }
            )
            return (copy.summary, try copy.publish())
        }
        let path = configuration.databasePath
        try key?.restore(to: configuration, aside: path + suffix, hasReplaced: aside != nil)
        // The next start would migrate an older backup and then send its postbacks. So migrate it here, and then hold
        // its endpoints.
        if holdsPostbacks, !summary.pendingMigrations.isEmpty {
            try CommandDatabase.openOrMake(configuration).close()
            summary.pendingMigrations = []
        }
        let endpoints = try await endpoints(configuration, summary, areHeld: holdsPostbacks)
        let json = JSONWriter.text { json in
            json.member("database", path)
            json.member("backup", backup)
            json.member("replaced", aside)
            json.member("has_server_key", key != nil)
            summary.write(to: &json)
            json.member("pending", summary.pendingMigrations)
            json.member("held_endpoints", holdsPostbacks ? endpoints : 0)
        }
        let again =
            holdsPostbacks
            ? "Held endpoints: \(endpoints); `afterlink postbacks enable` sends what waits."
            : "Postbacks that were delivered after the backup are sent again, under the same ids."
        let lines = text(summary, at: path, aside, hasKey: key != nil)
        invocation.show(endpoints > 0 ? "\(lines)\n\(again)" : lines, json: json)
    }

    /// Returns the number of enabled endpoints, and holds them if that is wanted; 0 for a database of an older version.
    private static func endpoints(_ configuration: Configuration, _ summary: DatabaseSummary, areHeld: Bool)
        async throws -> Int
    {
        guard summary.pendingMigrations.isEmpty else { return 0 }
        let database = try CommandDatabase.open(configuration, for: areHeld ? .command : .reading)
        defer { database.close() }
        let enabled = try await database.postbacks.endpoints().filter { $0.endpoint.state == .enabled }
        for status in enabled where areHeld {
            let change = EndpointChange.set(.held, reason: "the database was restored")
            try await database.postbacks.change(status.endpoint.id, change, by: .commandLine)
        }
        return enabled.count
    }

    /// Returns the backup's address keys, and the server keys beside the backup or else those of the existing database.
    ///
    /// - Throws: if there is no server key.
    private static func key(of backup: String, _ configuration: Configuration) throws -> KeyCopy {
        let paths = [backup + KeyCopy.serverSuffix, configuration.serverKeyPath]
        guard let path = paths.first(where: TextFile.exists) else {
            throw CommandFailure.because("There is no server key, neither at \(paths[0]) nor at \(paths[1]).")
                .advising(
                    "Put the key beside the backup. --without-server-key restores a database that cannot be served."
                )
        }
        return try KeyCopy(server: path, addresses: backup + KeyCopy.addressSuffix)
    }

    private static func refuseOtherKey(_ key: KeyCopy, at path: String) throws {
        guard TextFile.exists(path), !key.isHeld(by: path) else { return }
        throw CommandFailure.because("\(path) holds another server key than the backup's.")
            .advising("Move it away, give another --server-key-file, or use --overwrite, which renames it.")
    }

    private static func refusal(_ error: StoreError) -> CommandFailure {
        let advice =
            switch error.code {
            case .locked: "No other process may use the database: stop the service, restore, start it again."
            case .full: "Make room on the database's disk."
            case .incompatible:
                "Nothing was changed. Restore a backup of a newer version with that version of Afterlink."
            case .corrupted:
                "Nothing was changed. Take another backup; `afterlink verify --database BACKUP` shows more."
            default: "Nothing was changed."
            }
        return CommandFailure("Nothing was restored: \(error.explanation).", advice: advice)
    }

    private static func text(_ summary: DatabaseSummary, at path: String, _ aside: String?, hasKey: Bool)
        -> String
    {
        let newest = summary.newestClickAt.map { "of \($0.iso8601)" } ?? "missing: there are no clicks"
        var lines = ["Restored \(summary.text) to \(path).", "The newest click is \(newest)."]
        if let aside { lines.append("The previous database is kept at \(aside).") }
        if !hasKey { lines.append("The service does not start without the database's server key.") }
        if !summary.pendingMigrations.isEmpty {
            lines.append(
                "The database is of an older version: `afterlink migrate`, or the next start, applies"
                    + " \(summary.pendingMigrations.joined(separator: ", "))."
            )
        }
        return (lines + ["`afterlink serve` starts the service."]).joined(separator: "\n")
    }
}
