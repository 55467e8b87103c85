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
            "Makes a new key, under which a serving process stores clicks and signs tokens after some seconds, without a"
                + " restart. Clicks stored before are still found: the previous key stays in the file until nothing is"
                + " stored under it, that is, until the retention time has passed after the last window of its clicks, and"
                + " is then destroyed.",
            "The address keys, which change every day anyway, come from new random bytes from tomorrow on.",
            "A thief of the previous key and the database can still test fingerprints against what was stored until now."
                + " Take a new backup: older ones contain the previous key only.",
        ],
        options: [.jsonObject],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: [
            "afterlink server-key rotate --data-directory /var/lib/afterlink":
                "A person with a copy of the key has left."
        ],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        try CommandDatabase.require(configuration)
        let summary = try CommandDatabase.explaining(configuration) { try $0.survey().summary }
        let now = WallClock.system.now()
        let list = try ServerKeyFile(path: configuration.serverKeyPath).change { list in
            try refuse(list, summary, configuration, at: now)
            let new = ServerKeyList.Entry(bytes: SystemRandom.bytes(ServerKey.byteCount), madeAt: now)
            return ServerKeyList([new] + list.entries)
        }
        try renewAddresses(configuration, at: now)
        if invocation.arguments.has("json") {
            Console.print(ServerKeyListing.json(list, at: now))
        } else {
            Console.print(
                """
                Made a new server key. A serving process stores under it in \(ServerKeyList.settlingMilliseconds / 1000) s; no restart is needed.
                The former key is kept until nothing is stored under it any more, and destroyed then.
                Take a new backup: those from before hold the former key alone.
                """
            )
        }
        return .success
    }

    /// Refuses to replace a foreign key, a key that was just made, and more keys than checks can look up.
    private static func refuse(
        _ list: ServerKeyList,
        _ summary: DatabaseSummary,
        _ configuration: Configuration,
        at now: Timestamp
    ) throws {
        guard let keys = list.keys(at: now), summary.fits(keys.all) != false else {
            throw CommandFailure(
                "\(configuration.serverKeyPath) is not the key that \(configuration.databasePath) was made with.",
                advice: "Name its own with --server-key-file."
            )
        }
        guard list.currentIndex(at: now) == 0 else {
            throw CommandFailure.because("A new key was made just now, and is not used yet.")
                .advising("Once is enough; `afterlink server-key list` shows the keys.")
        }
        guard list.entries.count < ServerKeyList.maximumCount else {
            throw CommandFailure(
                "There are \(list.entries.count) server keys already, and each check looks under all of them.",
                advice: "Wait until the oldest is destroyed; `afterlink server-key list` shows the keys."
            )
        }
    }

    /// Renews the address keys: a thief of the server key may have them too, and all later ones follow from them.
    private static func renewAddresses(_ configuration: Configuration, at now: Timestamp)
        throws
    {
        // Not the next midnight if that is so near that a process could go past it with the old ones.
        let soon = now.advanced(byMilliseconds: 60_000)
        guard let link = AddressKeyFile.newLink(from: AddressKeys.day(of: soon) + 1) else { return }
        try AddressKeyFile(path: configuration.addressKeyPath).change(at: now, erasesFormer: false) { keys in
            keys.renewed(from: link, readyUntil: now)
        }
    }
}

/// The command `afterlink server-key list`.
enum ListServerKeysCommand {
    static let description = CommandDescription(
        name: "server-key list",
        summary: "Show how many server keys there are, and since when",
        discussion: [
            "Lists the newest first. Shows no key itself, but a mark that distinguishes it from the others and reveals"
                + " nothing of it."
        ],
        options: [.json],
        settings: CommandDatabase.settings + ["server-key-file"],
        examples: ["afterlink server-key list": "Is the former key still needed?"],
        run: run
    )

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let configuration = try ConfigurationReader.read(invocation)
        let list = try ServerKeyFile(path: configuration.serverKeyPath).open(databaseIsNew: false)
        let now = WallClock.system.now()
        let isJSON = invocation.arguments.has("json")
        Console.print(isJSON ? ServerKeyListing.json(list, at: now) : ServerKeyListing.table(list, at: now))
        return .success
    }
}

/// Server keys as they are shown: never themselves.
enum ServerKeyListing {
    static func table(_ list: ServerKeyList, at now: Timestamp) -> String {
        rows(list, at: now).table([
            .left("mark", \.mark), .left("made") { $0.madeAt ?? "-" }, .left("use", \.use),
        ])
    }

    static func json(_ list: ServerKeyList, at now: Timestamp) -> String {
        JSONWriter.text { json in
            json.objects("server_keys", rows(list, at: now)) { row, json in
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
            // The first half of what the database knows it by.
            let mark = entry.check.map { String($0.index >> 32, radix: 16) } ?? "-"
            return (mark, entry.madeAt?.iso8601, use)
        }
    }
}
