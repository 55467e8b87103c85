internal import Attribution
internal import Dispatch
internal import Glibc
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
        operands: [
            CommandDescription.Operand(
                placeholder: "PATH",
                isRequired: true,
                help: "The copy's name. Its folder must be there."
            )
        ],
        options: [
            CommandOption("overwrite", help: "Replace a backup of that name, once the new one is whole."),
            CommandOption(
                "without-server-key",
                help: "Leave the keys out; they have to be kept elsewhere then."
            ),
            CommandOption("json", help: "Print a JSON object instead."),
        ],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink backup /var/backups/afterlink.db --database /var/lib/afterlink/afterlink.db"
                + " --overwrite": "Every night; the last one is replaced when the new one is whole."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        guard let path = arguments.operands.first, !path.isEmpty, !path.hasSuffix("/") else {
            throw CommandFailure(
                .usage,
                "A backup needs the name of a file.",
                advice: "Write `afterlink backup FOLDER/NAME.db`."
            )
        }
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let key =
            try arguments.has("without-server-key")
            ? nil : KeyCopy(server: configuration.serverKeyPath, addresses: configuration.addressKeyPath)
        let keyPath = path + ".key"
        try refuseOtherKey(key, at: keyPath)
        umask(0o077)
        // A copy has all night; who waits for a click has not.
        _ = nice(10)
        let start = DispatchTime.now()
        let summary = try copy(configuration, to: path, key, mayReplace: arguments.has("overwrite"))
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        let outcome = Outcome(
            database: configuration.databasePath,
            namedKey: configuration.serverKeyFile,
            path: path,
            keyPath: key == nil ? nil : keyPath,
            summary: summary,
            seconds: seconds
        )
        Console.print(arguments.has("json") ? outcome.json : outcome.text)
        return .success
    }

    /// The key is written first, so that a backup never stands without it.
    private static func copy(
        _ configuration: Configuration,
        to path: String,
        _ key: KeyCopy?,
        mayReplace: Bool
    ) throws -> DatabaseSummary {
        let signals = StopSignals()
        let copy = try attempt {
            try Wiring.backUp(
                configuration,
                to: path,
                mayReplace: mayReplace,
                unless: { signals.isPending },
                check: { summary throws(StoreError) in try confirm(key, summary, configuration) }
            )
        } orElse: {
            refusal($0)
        }
        let files = try key.map { key in try BackedUpKeys(key, beside: path) }
        do throws(StoreError) {
            _ = try copy.publish()
        } catch {
            files?.putBack()
            throw refusal(error)
        }
        try files?.finish()
        return copy.summary
    }

    private static func confirm(
        _ key: KeyCopy?,
        _ summary: DatabaseSummary,
        _ configuration: Configuration
    ) throws(StoreError) {
        guard let key, summary.fits(key.keys) == false else { return }
        throw StoreError(
            .incompatible,
            "the server key \(configuration.serverKeyPath) is not the one that the database was made with: name its own"
                + " with --server-key-file, or leave the key out with --without-server-key"
        )
    }

    /// A key of another database is not overwritten, and the key is written before the database.
    private static func refuseOtherKey(_ key: KeyCopy?, at path: String) throws {
        guard let key, TextFile.exists(path) else { return }
        let other = KeyCopy.text(at: path).flatMap { ServerKeyList($0) }
        guard other?.isRelated(to: key.server) != true else { return }
        throw CommandFailure(
            "\(path) holds the server key of another database.",
            advice: "Give the backup another name, or move the key away."
        )
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

    private struct Outcome {
        let database: String
        /// The path of the database's key, if it is not the usual one.
        let namedKey: String?
        let path: String
        let keyPath: String?
        let summary: DatabaseSummary
        let seconds: Double

        var text: String {
            let tenths = Int((seconds * 10).rounded())
            let key =
                keyPath.map {
                    "The keys went along, to \($0) and beside it; keep all together, and from others."
                }
                ?? "The server key was left out: without it, nothing in a restored database can be found."
            return """
                Backed up \(summary.text) to \(path): \(summary.byteCount) bytes in \(tenths / 10).\(tenths % 10) s.
                \(key)
                To restore it: \(restore)
                """
        }

        private var restore: String {
            "afterlink restore \(ShellWord.quoted(operand: path)) --database \(ShellWord.quoted(database))"
                + (namedKey.map { " --server-key-file \(ShellWord.quoted($0))" } ?? "")
        }

        var json: String {
            var json = JSONWriter()
            json.object { json in
                json.member("database", database)
                json.member("backup", path)
                json.member("server_key", keyPath)
                summary.write(to: &json)
                json.member("seconds", seconds)
            }
            return json.text
        }
    }
}
