internal import Attribution
internal import Glibc
internal import Server

/// The server that trials are sent to.
struct TrialServer {
    let exchange: Exchange

    /// The maximum time to repeat a request with a new key that the server does not know yet, in milliseconds.
    private static let keyPatience: Int64 = 5000

    var url: String { exchange.url }

    /// - Throws: if no ready service responds.
    func requireReady() throws {
        let response = try send(ClientRequest("GET /readyz", host: exchange.hostField, []))
        guard response.status == 200 else {
            let isService = response.status == 503
            throw CommandFailure.because("At \(url), /readyz returns \(response.statusText).")
                .advising(
                    isService ? "See the service's log for the reason." : "Name the service with --server."
                )
        }
    }

    private func send(_ request: ClientRequest) throws -> ClientResponse {
        let response = try attempt(
            "No service responds at \(url)",
            advice: "Start it with `afterlink serve`, or give --server the address that its start printed."
        ) { try exchange.send(request) }
        if let response { return response }
        let tls = "does not speak HTTPS, or has no certificate for its name that this machine trusts"
        throw CommandFailure.because(
            "The server at \(url) \(exchange.isTLS ? tls : "does not speak HTTP")."
        ).advising("Name the service with --server; use https:// if it, or the proxy before it, speaks TLS.")
    }

    /// Sends a request with a key.
    ///
    /// - Throws: if the server cannot be reached, or refuses the key.
    func send(_ request: ClientRequest, with key: TrialKey) throws -> ClientResponse {
        let start = WallClock.system.now()
        var response = try send(request)
        while response.status == 401, key.isNew,
            WallClock.system.now().milliseconds(since: start) < Self.keyPatience
        {
            usleep(50_000)
            response = try send(request)
        }
        guard response.status == 401 || response.status == 403 else { return response }
        let message = response.message.map { ": \($0)" } ?? ""
        let refusal = "refuses the key of \(key.origin) with \(response.statusText)\(message)"
        throw CommandFailure.because("The server at \(url) \(refusal).")
            .advising(
                key.app == nil
                    ? "Name a file with a valid key of the kind that --as needs."
                    : "It may serve another database: create a key there with `afterlink keys create --kind test`, and"
                        + " name its file with --key-file."
            )
    }
}

/// The key that a trial's requests carry.
struct TrialKey {
    let text: String
    /// The file of the key.
    let origin: String
    /// The key's app; nil for a key of `--key-file`.
    let app: App?
    /// Whether the key is so new that a serving process may not know it yet.
    let isNew: Bool

    private static let limit = 4096
    /// If a key is younger than this, in milliseconds, an event loop of a serving process may not know it yet.
    private static let newness: Int64 = 2000

    /// Returns the key of the named file, or else a test key of the database on this machine.
    ///
    /// If no valid test key is stored beside the database, this function creates one and stores it there.
    static func find(
        _ arguments: Arguments,
        _ poster: Trial.Poster,
        _ configuration: Configuration
    ) async throws -> TrialKey {
        if let path = arguments.value("key-file") { return try read(path, for: poster) }
        guard poster == .test else {
            throw CommandFailure.usage(
                "--as \(poster.rawValue) needs the app's \(poster.keyKind.rawValue) key."
            )
            .advising(
                "Name its file with --key-file. Clicks and launches are then live and count; without --as, they do not."
            )
        }
        if !configuration.isOnServer { try TextFile.requireReach(of: configuration.databasePath) }
        guard configuration.isOnServer || TextFile.exists(configuration.databasePath) else {
            let path = configuration.databasePath
            throw CommandFailure.because("There is no --key-file, and no database at \(path) for a test key.")
                .advising(
                    "Run `afterlink keys create --kind test > test.key` on the database's machine, and try again with"
                        + " --key-file test.key; or name the database with --database."
                )
        }
        return try await storedKey(arguments.value("app"), configuration)
    }

    private static func read(_ path: String, for poster: Trial.Poster) throws -> TrialKey {
        let bytes = try attempt(
            "The key could not be read",
            advice: "Name a file with --key-file that has the key and nothing else."
        ) { try OpenFile(path, O_RDONLY).readAll(limit: limit) }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        guard let key = KeyText(operatorsOwn: text) else {
            throw CommandFailure.because("\(path) has no key.")
                .advising("Write the output of `afterlink keys create` into it, and nothing else.")
        }
        // Keys that operators supply may have any prefix.
        let kind = KeyKind.allCases.first { key.text.hasPrefix($0.rawValue + "_") }
        guard kind == nil || kind == poster.keyKind else {
            let needs = "--as \(poster.rawValue) needs a key of kind \(poster.keyKind.rawValue)"
            throw CommandFailure.usage("\(needs); the key in \(path) has the kind \(kind?.rawValue ?? "").")
                .advising(
                    "Name a file with such a key, or change --as; all except test make live clicks that count."
                )
        }
        return TrialKey(text: key.text, origin: path, app: nil, isNew: false)
    }

    private static func storedKey(_ name: String?, _ configuration: Configuration) async throws -> TrialKey {
        let database = try CommandDatabase.open(configuration)
        defer { database.close() }
        let directory = try database.directory()
        let app = try AppChoice.find(name, in: directory)
        let path = "\(configuration.databasePath).simulate-\(app.id.text)"
        let now = WallClock.system.now()
        if let stored = try? read(path, for: .test), let key = directory.key(KeyDigest(of: stored.text)),
            key.app == app.id, key.kind == .test, key.isValid(at: now)
        {
            let age = now.milliseconds(since: key.createdAt)
            return TrialKey(text: stored.text, origin: path, app: app, isNew: age < newness)
        }
        let text = KeyText(kind: .test, random: .system)
        try await database.apps.create(
            APIKey(
                id: KeyID(at: now, random: .system),
                kind: .test,
                app: app.id,
                label: "afterlink simulate",
                digest: text.digest,
                createdAt: now
            ),
            by: .commandLine
        )
        do throws(SystemError) {
            // The existing file may have a revoked key, or the key of a previous database.
            TextFile.delete(path)
            try TextFile.create(path, text: text.text + "\n")
            try TextFile.giveToOwnerOfFolder(path)
        } catch { Console.printError("The test key could not be stored for the next run: \(error.text).\n") }
        return TrialKey(text: text.text, origin: path, app: app, isNew: true)
    }
}
