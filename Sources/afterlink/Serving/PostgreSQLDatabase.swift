#if PostgreSQL
internal import Attribution
internal import PostgreSQLStorage
internal import Server
internal import Storage

/// A database on a PostgreSQL server, which any number of servers share.
struct PostgreSQLDatabase: Database {
    let configuration: Configuration

    static var library: String { "libpq \(PostgreSQLStore.libraryVersion)" }

    func open(for purpose: DatabasePurpose) throws(StoreError) -> OpenStore {
        let store = try PostgreSQLStore.open(settings(purpose))
        return OpenStore(
            makeStores: { port in
                let session = store.makeSession(port: port)
                return Stores(
                    session,
                    endTurn: { session.endTurn() },
                    beginTurn: { session.beginTurn(with: $0) }
                )
            },
            health: { store.health },
            confirm: { checks, now throws(StoreError) in try store.confirm(serverKeys: checks, at: now) },
            isClockSettled: { store.isClockSettled },
            keyNeeds: { () throws(StoreError) in try store.keyNeeds() },
            forget: { check throws(StoreError) in try store.forget(serverKey: check) },
            stop: { store.stop(within: $0) },
            keyring: store.keyring
        )
    }

    func keyring() throws(StoreError) -> (any KeyringRows)? {
        PostgreSQLKeyring(try settings(.reading))
    }

    func migrationPlan() throws(StoreError) -> MigrationPlan {
        try PostgreSQLStore.migrationPlan(settings(.command))
    }

    /// Other servers are expected to use the database.
    func holder() -> Int32? { nil }

    func requireHeader(of path: String) throws(StoreError) { throw Self.isNoFile }

    func survey() throws(StoreError) -> DatabaseReport {
        try PostgreSQLSurvey.report(settings(.reading))
    }

    func verify(_ keys: [ServerKey]) throws(StoreError) -> VerificationReport {
        try PostgreSQLVerification.run(settings(.reading), serverKeys: keys)
    }

    func history(of app: AppID, isTest: Bool, remaking: FingerprintReconstruction) throws(StoreError)
        -> any TrafficHistory
    { try PostgreSQLHistory(settings(.reading), of: app, isTest: isTest, remaking: remaking) }

    func backUp(
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy { throw Self.isNoFile }

    func restore(
        _ backup: String,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy { throw Self.isNoFile }

    func fill(from source: any MoveSource, note: @escaping (String) -> Void) throws(StoreError) -> MoveReport
    {
        try PostgreSQLMove.run(from: source, to: settings(.command), note: note)
    }

    /// `CommandDatabase.requireFile` refuses the commands that need a file before they come here.
    private static let isNoFile = StoreError(.unsupported, "the database is on a server, and no file")

    private func settings(_ purpose: DatabasePurpose) throws(StoreError) -> PostgreSQLConfiguration {
        let passwordFile = configuration.databasePasswordFile
        var settings = try PostgreSQLConfiguration(
            url: configuration.database,
            name: configuration.databaseName,
            // Read again for each connection, so that a changed password needs no restart.
            password: {
                passwordFile.flatMap { try? TextFile.read($0) }.map { $0.trimmed }
            },
            clock: .system
        )
        settings.programVersion = ProgramVersion.text
        settings.retentionSeconds = configuration.retention
        settings.standardWindow = configuration.attributionWindow
        settings.durability = configuration.durability == .full ? .full : .relaxed
        settings.queueLimit = configuration.queueLimit
        switch purpose {
        case .serving(let clock, let log):
            settings.clock = clock
            settings.learnsAtOnce = configuration.usesTestClock
            settings.trustsClock = configuration.usesTestClock
            settings.acceptsClock = configuration.acceptsClock
            settings.log = StoreLog { level, text in log.event(LogLevel(level), text) }
        case .command, .reading:
            settings.hasBackgroundWork = false
            settings.timeLimitMilliseconds = Wiring.commandMilliseconds
            if case .reading = purpose { settings.isReadOnly = true }
        }
        return settings
    }
}
#endif
