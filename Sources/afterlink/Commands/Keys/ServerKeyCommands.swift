internal import Attribution
internal import Crypto
internal import JSON
internal import Server
internal import Storage

/// The command `afterlink server-key rotate`.
enum RotateServerKeyCommand {
    static let description = CommandDescription(
        name: "server-key rotate",
        summary: "Replace the current server key with a new one",
        discussion: [
            "Creates a new key. After some seconds and without a restart, a serving process stores clicks and signs tokens"
                + " under it. Launches still find earlier clicks: the previous key stays until all clicks, records of checks,"
                + " events and matches that were stored under it are deleted, and is then destroyed.",
            "From tomorrow on, the address keys, which change every day, come from new random bytes.",
            "A thief of the previous key and the database can still test fingerprints against the clicks stored until now."
                + " Take a new backup: older ones have only the previous key.",
        ],
        options: [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file", "secret-file"],
        examples: [
            "afterlink server-key rotate --data-directory /var/lib/afterlink":
                "Replace the key after a person with a copy of it has left."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        try CommandDatabase.requireCurrent(configuration)
        let summary = try CommandDatabase.explaining(configuration) { try $0.survey().summary }
        let now = WallClock.system.now()
        // Open the database before the keys change: it may be of an older version, and the command fails then.
        let database = try CommandDatabase.open(configuration)
        defer { database.close() }
        // On PostgreSQL, this command has a row in `servers`, as a running server has. Take the keyring of this store:
        // it knows this row, and does not count it as a server that lacks the last key.
        let source = try configuration.keySource(of: database.store)
        let list = try source.changeServerKeys(erasesFormer: false) { list in
            try refuse(list, source, summary, configuration, at: now)
            let new = ServerKeyList.Entry(bytes: SystemRandom.bytes(ServerKey.byteCount), madeAt: now)
            return ServerKeyList([new] + list.entries)
        }
        try renewAddresses(source, at: now)
        try await database.audit.note(AuditedChange(.rotateServerKey), by: .commandLine)
        let seconds = ServerKeyList.settlingMilliseconds / 1000
        let use =
            source.isShared
            ? "The servers store under it when all of them have it, usually in 2 s"
            : "A serving process stores under it in \(seconds) s"
        let text = """
            Created a new server key. \(use); no restart is needed.
            The former key remains until nothing is stored under it, and is then destroyed.
            Take a new backup: older ones have only the former key.
            """
        invocation.show(text, json: ServerKeyListing.json(list, at: now))
    }

    /// Refuses the key of another database, a rotation before the last one has taken effect, and too many keys.
    private static func refuse(
        _ list: ServerKeyList,
        _ source: any KeySource,
        _ summary: DatabaseSummary,
        _ configuration: Configuration,
        at now: Timestamp
    ) throws {
        guard let keys = list.keys(at: now), summary.fits(keys.all) != false else {
            guard !source.isShared else { throw source.foreign }
            let (key, database) = (configuration.serverKeyPath, configuration.databaseName)
            throw CommandFailure.configuration("\(key) is not the server key of \(database).")
                .advising("Name the database's key with --server-key-file.")
        }
        guard list.currentIndex(at: now) == 0 else {
            throw CommandFailure.because("A key was created just now, and is not in use yet.")
                .advising("Do not rotate again; `afterlink server-key list` shows the keys.")
        }
        guard list.entries.count < ServerKeyList.maximumCount else {
            throw CommandFailure.because(
                "There are \(list.entries.count) server keys, and a check can use no more."
            ).advising("Wait until the oldest is destroyed; `afterlink server-key list` shows the keys.")
        }
    }

    /// Renews the address keys, because a thief of the server key may have them and could derive the later ones.
    private static func renewAddresses(_ source: any KeySource, at now: Timestamp) throws {
        // If the next day begins in less than a minute, a process could begin it with the old keys, so renew from the
        // day after it.
        let soon = now.advanced(byMilliseconds: 60_000)
        guard let seed = AddressKeyFile.newSeed(from: AddressKeys.day(of: soon) + 1) else { return }
        try source.changeAddressKeys(at: now, erasesFormer: false) { keys in
            keys.renewed(from: seed, readyUntil: now)
        }
    }
}

/// The command `afterlink server-key list`.
enum ListServerKeysCommand {
    static let description = CommandDescription(
        name: "server-key list",
        summary: "Show the server keys' ages and uses",
        discussion: [
            "Lists the server keys, the newest first. A mark distinguishes each key from the others and reveals nothing of"
                + " it."
        ],
        options: [.json],
        settings: CommandDatabase.settings + ["server-key-file", "secret-file"],
        examples: ["afterlink server-key list": "Show whether the former key is still needed."],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws {
        let configuration = try ConfigurationReader.read(invocation)
        // A key file can be listed without its database. If neither exists, --database probably names the wrong one.
        if configuration.isOnServer || !TextFile.exists(configuration.serverKeyPath) {
            try CommandDatabase.require(configuration)
        }
        let list = try configuration.keySource().serverKeys()
        let now = WallClock.system.now()
        invocation.show(ServerKeyListing.table(list, at: now), json: ServerKeyListing.json(list, at: now))
    }
}

/// Server keys as a table and JSON, without the keys themselves.
enum ServerKeyListing {
    static func table(_ list: ServerKeyList, at now: Timestamp) -> String {
        rows(list, at: now).table([
            .left("mark", \.mark), .left("made") { $0.madeAt ?? "-" }, .left("use", \.use),
        ])
    }

    static func json(_ list: ServerKeyList, at now: Timestamp) -> String {
        JSONWriter.text { json in
            json.objects("server_keys", rows(list, at: now)) { json, row in
                json.member("mark", row.mark)
                json.member("made_at", row.madeAt)
                json.member("use", row.use)
            }
        }
    }

    private static func rows(_ list: ServerKeyList, at now: Timestamp) -> [(
        mark: String, madeAt: String?, use: String
    )] {
        let current = list.currentIndex(at: now)
        return list.entries.enumerated().map { index, entry in
            let use = index < current ? "upcoming" : index == current ? "current" : "previous"
            // The first 32 bits of the check value, which the database stores.
            let mark = entry.check.map { String($0.index >> 32, radix: 16) } ?? "-"
            return (mark, entry.madeAt?.iso8601, use)
        }
    }
}
