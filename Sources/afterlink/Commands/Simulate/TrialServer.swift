internal import Attribution
internal import Glibc
internal import Server

/// The server that trials are sent to, and the key that they carry.
struct TrialServer {
    let exchange: Exchange

    /// How long a serving process needs at most to see a key that another process made, in milliseconds.
    private static let keyPatience: Int64 = 5000

    var url: String { exchange.url }

    /// - Throws: if no service is ready there.
    func requireReady() throws {
        let response = try send(ClientRequest("GET /readyz", host: exchange.hostField, []))
        guard response.status == 200 else {
            throw CommandFailure(
                "At \(url), /readyz returns \(response.statusText).",
                advice: response.status == 503
                    ? "The service is not ready; its log says why."
                    : "Name the service's own address with --server."
            )
        }
    }

    private func send(_ request: ClientRequest) throws -> ClientResponse {
        let response = try attempt(
            "No service answers at \(url)",
            advice: "Start it with `afterlink serve`, or name its address with --server, as in"
                + " --server http://127.0.0.1:8080."
        ) { try exchange.send(request) }
        if let response { return response }
        throw CommandFailure(
            exchange.overTLS
                ? "What answers at \(url) has no certificate for that name that this machine trusts, or does not speak"
                    + " HTTPS."
                : "What answers at \(url) does not speak HTTP.",
            advice:
                "Name the service's own address with --server; use https:// if it, or the proxy before it, speaks TLS."
        )
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
        throw CommandFailure(
            "The server at \(url) refuses the key of \(key.origin) with \(response.statusText)\(message).",
            advice: key.app == nil
                ? "Name a file with a key that is valid there, of the kind that --as needs."
                : "It may serve another database than the one here: make a key there with"
                    + " `afterlink keys create --kind test`, and name its file with --key-file."
        )
    }
}

/// The key that a trial's requests carry.
struct TrialKey {
    let text: String
    /// The file that contains the key.
    let origin: String
    /// The key's app, if the database is on this machine.
    let app: App?
    /// Whether it was made just now, so that a serving process may not know it yet.
    let isNew: Bool

    private static let limit = 4096
    /// How long every loop of a serving process needs at most to see a new key, in milliseconds.
    private static let newness: Int64 = 2000

    /// Returns the key of the named file, or else a test key of the database on this machine, which is made the first time
    /// and kept beside it.
    static func find(
        _ arguments: Arguments,
        _ poster: Trial.Poster,
        _ configuration: Configuration
    ) async throws -> TrialKey {
        if let path = arguments.value("key-file") { return try read(path, for: poster) }
        guard poster == .test else {
            throw CommandFailure(
                .usage,
                "--as \(poster.rawValue) needs the app's \(poster.keyKind.rawValue) key, and makes live clicks and"
                    + " launches, which count in the statistics.",
                advice:
                    "Write the key into a file and name that with --key-file, or leave --as out to try with a test"
                    + " key."
            )
        }
        guard TextFile.exists(configuration.databasePath) else {
            throw CommandFailure(
                "There is no key to try with: none was named, and there is no database at"
                    + " \(configuration.databasePath) to make a test key in.",
                advice:
                    "Run `afterlink keys create --kind test > test.key` where the database is, and try again with"
                    + " --key-file test.key; or name the database with --database."
            )
        }
        return try await own(arguments.value("app"), configuration)
    }

    private static func read(_ path: String, for poster: Trial.Poster) throws -> TrialKey {
        let bytes = try attempt(
            "The key could not be read",
            advice: "Name a file that holds the key alone with --key-file."
        ) { try OpenFile(path, O_RDONLY).readAll(limit: limit) }
        let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        guard let key = KeyText(operatorsOwn: text) else {
            throw CommandFailure.because("\(path) holds no key.")
                .advising("It should hold what `afterlink keys create` printed, and nothing else.")
        }
        // Keys that operators bring begin as they like.
        let kind = KeyKind.allCases.first { key.text.hasPrefix($0.rawValue + "_") }
        guard kind == nil || kind == poster.keyKind else {
            throw CommandFailure(
                .usage,
                "\(path) holds a key of kind \(kind?.rawValue ?? ""), and --as \(poster.rawValue) needs one of kind"
                    + " \(poster.keyKind.rawValue).",
                advice:
                    "Name a file with such a key, or say with --as how this one is used; live ones count in the"
                    + " statistics."
            )
        }
        return TrialKey(text: key.text, origin: path, app: nil, isNew: false)
    }

    private static func own(_ name: String?, _ configuration: Configuration) async throws
        -> TrialKey
    {
        let database = try CommandDatabase.open(configuration)
        defer { database.close() }
        let directory = try database.directory()
        let app = try AppChoice.find(name, in: directory)
        let path = "\(configuration.databasePath).simulate-\(app.id.text)"
        let now = WallClock.system.now()
        if let kept = try? read(path, for: .test), let key = directory.key(KeyDigest(of: kept.text)),
            key.app == app.id, key.kind == .test, key.isValid(at: now)
        {
            let age = now.milliseconds(since: key.createdAt)
            return TrialKey(text: kept.text, origin: path, app: app, isNew: age < newness)
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
            )
        )
        do throws(SystemError) {
            // One that was revoked, or of a database that was there before.
            TextFile.delete(path)
            try TextFile.create(path, text: text.text + "\n")
            try TextFile.giveToOwnerOfFolder(path)
        } catch {
            Console.printError("The test key could not be kept for the next time: \(error.text).\n")
        }
        return TrialKey(text: text.text, origin: path, app: app, isNew: true)
    }
}
