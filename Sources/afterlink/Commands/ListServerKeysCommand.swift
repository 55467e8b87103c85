internal import Attribution
internal import Server

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
        examples: [
            "afterlink server-key list": "Is the former key still needed?"
        ],
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
        var table = Table([("mark", .left), ("made", .left), ("use", .left)])
        for row in rows(list, at: now) { table.add([row.mark, row.madeAt ?? "-", row.use]) }
        return table.text
    }

    static func json(_ list: ServerKeyList, at now: Timestamp) -> String {
        var json = JSONWriter()
        json.object { json in
            json.member("server_keys") { json in
                json.array { json in
                    for row in rows(list, at: now) {
                        json.object { json in
                            json.member("mark", row.mark)
                            json.member("made_at", row.madeAt)
                            json.member("use", row.use)
                        }
                    }
                }
            }
        }
        return json.text
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
