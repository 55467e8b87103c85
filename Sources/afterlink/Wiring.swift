internal import Attribution
internal import SQLiteStorage
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
}

/// A database file of SQLite.
private struct SQLiteDatabase: Database {
    let configuration: Configuration

    static var library: String { "SQLite \(DatabaseSurvey.libraryVersion)" }

    func open(for purpose: DatabasePurpose) throws(StoreError) -> OpenStore {
        let store = try SQLiteStore.open(settings(purpose))
        return OpenStore(
            // SQLite reads files, for which a loop cannot wait.
            makeSession: { _ in store.makeSession() },
            health: { store.health },
            keys: store.keys,
            isClockSettled: { store.isClockSettled },
            stop: { store.stop(within: $0) },
            publish: { type, app, data throws(StoreError) in try store.publish(type, of: app, data: data) }
        )
    }

    func migrationPlan() throws(StoreError) -> MigrationPlan {
        try SQLiteStore.migrationPlan(settings(.command))
    }

    func holder() -> Int32? { DatabaseSurvey.holder(of: configuration.databasePath) }
    func requireHeader(of path: String) throws(StoreError) { try DatabaseSurvey.checkIsDatabase(path) }
    func isOwn(_ path: String) -> Bool { DatabaseSurvey.isOwn(path) }

    func survey() throws(StoreError) -> DatabaseReport {
        try requireHeader(of: configuration.databasePath)
        return try DatabaseSurvey.report(settings(.command))
    }

    func verify(_ keys: [ServerKey]) throws(StoreError) -> VerificationReport {
        try DatabaseVerification.run(settings(.command), serverKeys: keys)
    }

    func history(of app: AppID, isTest: Bool, remaking: FingerprintReconstruction) throws(StoreError)
        -> any TrafficHistory
    { try SQLiteHistory.open(settings(.reading), of: app, isTest: isTest, remaking: remaking) }

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
        SQLiteConfiguration(
            path: configuration.databasePath,
            store: StoreConfiguration(configuration, for: purpose)
        )
    }
}
