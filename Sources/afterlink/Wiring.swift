internal import Attribution
internal import SQLiteStorage
internal import Server
internal import Storage

/// Chooses the kind of database; the rest of the program names no kind.
enum Wiring {
    /// Returns the database that the configuration names, which need not exist yet.
    ///
    /// To add a kind of database, write a type that conforms to ``Database``, and choose it here.
    static func database(_ given: Configuration) -> any Database {
        #if PostgreSQL
        if given.isOnServer { return PostgreSQLDatabase(configuration: given) }
        #endif
        return SQLiteDatabase(configuration: given)
    }

    /// The time that a command waits for a slow disk or a lock of another process, in milliseconds: an operator waits longer
    /// than an SDK, and would otherwise run the command again.
    static let commandMilliseconds: UInt64 = 30_000
}

/// A database file of SQLite.
private struct SQLiteDatabase: Database {
    let configuration: Configuration

    static var library: String { "SQLite \(DatabaseSurvey.libraryVersion)" }

    func open(for purpose: DatabasePurpose) throws(StoreError) -> OpenStore {
        let store = try SQLiteStore.open(settings(purpose))
        return OpenStore(
            // SQLite reads files, for which a loop cannot wait.
            makeStores: { _ in
                let session = store.makeSession()
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
            stop: { store.stop(within: $0) }
        )
    }

    func migrationPlan() throws(StoreError) -> MigrationPlan {
        try SQLiteStore.migrationPlan(settings(.command))
    }

    func holder() -> Int32? { DatabaseSurvey.holder(of: configuration.databasePath) }

    func requireHeader(of path: String) throws(StoreError) { try DatabaseSurvey.checkIsDatabase(path) }

    func survey() throws(StoreError) -> DatabaseReport {
        try requireHeader(of: configuration.databasePath)
        return try DatabaseSurvey.report(settings(.command))
    }

    func verify(_ keys: [ServerKey]) throws(StoreError) -> VerificationReport {
        try DatabaseVerification.run(settings(.command), serverKeys: keys)
    }

    func history(of app: AppID, isTest: Bool, remaking: FingerprintReconstruction) throws(StoreError)
        -> any TrafficHistory
    { try SQLiteHistory(settings(.reading), of: app, isTest: isTest, remaking: remaking) }

    func backUp(
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        try DatabaseCopies.backUp(
            settings(.command),
            to: path,
            mayReplace: mayReplace,
            unless: isInterrupted,
            check: check
        )
    }

    func restore(
        _ backup: String,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        try DatabaseCopies.restore(
            backup,
            to: settings(.command),
            movingAside: suffix,
            mayReplace: mayReplace,
            unless: isInterrupted,
            check: check
        )
    }

    func moveSource() throws(StoreError) -> any MoveSource { try SQLiteMoveSource(settings(.command)) }

    private func settings(_ purpose: DatabasePurpose) -> SQLiteConfiguration {
        var settings = SQLiteConfiguration(path: configuration.databasePath, clock: .system)
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

extension LogLevel {
    init(_ level: StoreLog.Level) {
        self =
            switch level {
            case .information: .info
            case .warning: .warning
            case .error: .error
            }
    }
}
