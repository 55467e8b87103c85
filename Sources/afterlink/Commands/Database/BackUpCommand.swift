internal import Attribution
internal import Dispatch
internal import Glibc
internal import JSON
internal import Server
internal import Storage

/// The command `afterlink backup`.
enum BackUpCommand {
    static let description = CommandDescription(
        name: "backup",
        summary: "Copy the database and its key, also while serving",
        discussion: [
            "Writes a copy that holds every click acknowledged before it began, checks it, and gives it its name only"
                + " when it is on disk: what was interrupted is called PATH.afterlink-partial, never PATH. A serving process goes"
                + " on meanwhile.",
            "The server keys go along, to PATH.key, because without them nothing in a restored database can be found, and"
                + " the address keys, to PATH.address-key. These files together reveal everything: protect them like"
                + " the database.",
        ],
        operands: [.required("PATH", "The copy's name. Its folder must be there.")],
        options: CommandOption.table([
            "overwrite": "Replace a backup of that name when the new one is complete.",
            "without-server-key": "Leave the keys out; keep them elsewhere.",
        ]) + [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink backup /var/backups/afterlink.db --database /var/lib/afterlink/afterlink.db"
                + " --overwrite": "Every night; replaces the last one when the new one is complete."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        guard let path = arguments.operands.first, !path.isEmpty, !path.hasSuffix("/") else {
            throw CommandFailure.usage("A backup needs the name of a file.")
                .advising("Write `afterlink backup FOLDER/NAME.db`.")
        }
        let configuration = try ConfigurationReader.read(invocation)
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
        guard arguments.has("json") else {
            let tenths = Int((seconds * 10).rounded())
            let key =
                keyPath.map {
                    "The keys went along, to \($0) and beside it; keep all together, and from others."
                }
                ?? "The server key was left out: without it, nothing in a restored database can be found."
            Console.print(
                """
                Backed up \(summary.text) to \(path): \(summary.byteCount) bytes in \(tenths / 10).\(tenths % 10) s.
                \(key)
                To restore it: afterlink restore \(ShellWord.quoted(operand: path)) \(options(configuration))
                """
            )
            return .success
        }
        Console.print(
            JSONWriter.text { json in
                json.member("database", configuration.databasePath)
                json.member("backup", path)
                json.member("server_key", keyPath)
                summary.write(to: &json)
                json.member("seconds", seconds)
            }
        )
        return .success
    }

    private static func copy(
        _ configuration: Configuration,
        to path: String,
        _ key: KeyCopy?,
        mayReplace: Bool
    ) throws -> DatabaseSummary {
        let signals = StopSignals()
        let foreign =
            "the server key \(configuration.serverKeyPath) is not the one that the database was made with: name its own"
            + " with --server-key-file, or leave the key out with --without-server-key"
        return try attempt {
            let copy = try Wiring.database(configuration).backUp(
                to: path,
                mayReplace: mayReplace,
                unless: { signals.isPending },
                check: { summary throws(StoreError) in try key?.confirm(summary, orElse: foreign) }
            )
            if let key { try key.accompany(path) { _ = try copy.publish() } } else { _ = try copy.publish() }
            return copy.summary
        } orElse: { (error: StoreError) in
            refusal(error)
        }
    }

    /// Refuses to overwrite the key of another database.
    private static func refuseOtherKey(_ key: KeyCopy?, at path: String) throws {
        guard let key, TextFile.exists(path), KeyCopy.list(at: path)?.isRelated(to: key.server) != true else {
            return
        }
        throw CommandFailure.because("\(path) holds the server key of another database.")
            .advising("Give the backup another name, or move the key away.")
    }

    private static func options(_ configuration: Configuration) -> String {
        "--database \(ShellWord.quoted(configuration.databasePath))"
            + (configuration.serverKeyFile.map { " --server-key-file \(ShellWord.quoted($0))" } ?? "")
    }

    private static func refusal(_ error: StoreError) -> CommandFailure {
        let advice =
            switch error.code {
            case .conflict: "Give another name."
            case .full: "Make room, or back up to another disk."
            case .readOnly: "Back up to a folder that this user may write to."
            case .notFound: "The backup's folder and the database must be there."
            case .corrupted: "Run `afterlink verify`, and keep the backups that there are."
            case .locked, .stopping: "Call it again."
            case .inputOutput:
                "Look at the disks of the database and of the backup; the system's log may say more."
            default: "`afterlink doctor` shows what there is."
            }
        return CommandFailure("No backup was made: \(error.explanation).", advice: advice)
    }
}
