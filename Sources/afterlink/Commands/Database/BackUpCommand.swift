internal import Attribution
internal import Dispatch
internal import Glibc
internal import JSON
internal import Storage

/// The command `afterlink backup`.
enum BackUpCommand {
    static let description = CommandDescription(
        name: "backup",
        summary: "Copy the database and its keys, also while serving",
        discussion: [
            "Writes a copy with every click acknowledged before the command, verifies it, and names it PATH only when it is"
                + " on disk. A killed command leaves PATH.afterlink-partial, which the next backup overwrites. A serving"
                + " process continues meanwhile.",
            "Copies the server keys to PATH.key, because without them no click of a restored database can be found, and the"
                + " address keys to PATH.address-key. With all three files, a reader can test guessed values against the hashes:"
                + " protect them like the database.",
            "A PostgreSQL database is backed up with PostgreSQL's own tools, such as pg_basebackup.",
        ],
        operands: [.required("PATH", "The copy's path, in an existing folder.")],
        options: CommandOption.table([
            "overwrite": "Replace a backup at PATH when the new one is complete.",
            "without-server-key": "Leave the keys out; store them elsewhere.",
        ]) + [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink backup /var/backups/afterlink.db --database /var/lib/afterlink/afterlink.db"
                + " --overwrite": "Replace the last backup every night."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard let path = arguments.operands.first, !path.isEmpty, !path.hasSuffix("/") else {
            throw CommandFailure.usage("A backup needs the name of a file.")
                .advising("Write `afterlink backup FOLDER/NAME.db`.")
        }
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.requireFile(configuration)
        try CommandDatabase.require(configuration)
        let key =
            try arguments.has("without-server-key")
            ? nil : KeyCopy(server: configuration.serverKeyPath, addresses: configuration.addressKeyPath)
        try refuseOtherKey(key, at: path + KeyCopy.serverSuffix)
        umask(0o077)
        // A backup may run slowly; a serving process must not.
        _ = nice(10)
        let start = DispatchTime.now()
        let summary = try copy(configuration, to: path, key, mayReplace: arguments.has("overwrite"))
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        let keyPath = key.map { _ in path + KeyCopy.serverSuffix }
        let keys =
            keyPath.map {
                "Copied the keys to \($0) and to files beside it; store all files together, closed to other users."
            }
            ?? "Left the server key out: without it, no click of a restored database can be found."
        let text = """
            Backed up \(summary.text) to \(path): \(summary.byteCount) bytes in \(seconds.text(digits: 1)) s.
            \(keys)
            To restore it: afterlink restore \(ShellWord.quoted(operand: path)) \(options(configuration))
            """
        let json = JSONWriter.text { json in
            json.member("database", configuration.databasePath)
            json.member("backup", path)
            json.member("server_key", keyPath)
            summary.write(to: &json)
            json.member("seconds", seconds)
        }
        invocation.show(text, json: json)
    }

    private static func copy(
        _ configuration: Configuration,
        to path: String,
        _ key: KeyCopy?,
        mayReplace: Bool
    ) throws -> DatabaseSummary {
        let signals = StopSignals()
        let foreign =
            "\(configuration.serverKeyPath) is not the server key of the database: name its key with --server-key-file, or"
            + " leave the key out with --without-server-key"
        return try attempt(orElse: refusal) {
            let copy = try Wiring.database(configuration).backUp(
                to: path,
                mayReplace: mayReplace,
                unless: { signals.isPending },
                check: { summary throws(StoreError) in try key?.confirm(summary, orElse: foreign) }
            )
            if let key { try key.accompany(path) { _ = try copy.publish() } } else { _ = try copy.publish() }
            return copy.summary
        }
    }

    /// Refuses to overwrite the key of another database.
    private static func refuseOtherKey(_ key: KeyCopy?, at path: String) throws {
        guard let key, TextFile.exists(path), KeyCopy.list(at: path)?.isRelated(to: key.server) != true else {
            return
        }
        throw CommandFailure.because("\(path) has the server key of another database.")
            .advising("Give the backup another name, or move the key away.")
    }

    private static func options(_ configuration: Configuration) -> String {
        "--database \(ShellWord.quoted(configuration.databasePath))"
            + (configuration.serverKeyFile.map { " --server-key-file \(ShellWord.quoted($0))" } ?? "")
    }

    private static func refusal(_ error: StoreError) -> CommandFailure {
        let advice =
            switch error.code {
            case .conflict: "Give another path."
            case .full: "Make room, or back up to another disk."
            case .readOnly: "Back up to a folder that this user may write to."
            case .notFound: "Make sure that the backup's folder and the database exist."
            case .corrupted: "Run `afterlink verify`, and keep the existing backups."
            case .locked, .stopping: "Run the command again."
            case .inputOutput: "Check the disks of the database and of the backup, and the system's log."
            default: "Run `afterlink doctor` to examine the installation."
            }
        return CommandFailure("No backup was made: \(error.explanation).", advice: advice)
    }
}
