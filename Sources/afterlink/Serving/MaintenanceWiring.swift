internal import Attribution
internal import SQLiteStorage

// What commands do to a whole database, whichever kind it is.

extension Wiring {
    /// Copies the database beside the name that the copy is to have, while others use it.
    ///
    /// - Parameters:
    ///   - configuration: names the database.
    ///   - path: the copy's name.
    ///   - mayReplace: whether a file of that name is replaced.
    ///   - isInterrupted: asked now and then; true ends the copy.
    ///   - check: throws what speaks against copying this.
    /// - Returns: the copy, whole and on disk, without its name.
    /// - Throws: an error that says what to do; then nothing is left of the copy.
    static func backUp(
        _ configuration: Configuration,
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        let backup = try SQLiteBackup(
            of: storeConfiguration(configuration, .command),
            to: path,
            mayReplace: mayReplace,
            unless: isInterrupted,
            check: { content throws(StoreError) in try check(summary(content)) }
        )
        return DatabaseCopy(summary: summary(backup.content)) { () throws(StoreError) in
            try backup.publish()
            return nil
        }
    }

    /// Copies a backup beside the database that it is to be.
    ///
    /// - Parameters:
    ///   - backup: the backup's path.
    ///   - configuration: names the database.
    ///   - suffix: for the name of what is moved aside.
    ///   - mayReplace: whether a database that is there is moved aside.
    ///   - isInterrupted: asked now and then; true ends the copy.
    ///   - check: throws what speaks against restoring this.
    /// - Returns: the copy, whole and on disk, without its name.
    /// - Throws: an error that says what to do; then nothing has changed.
    static func restore(
        _ backup: String,
        to configuration: Configuration,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        let restore = try SQLiteRestore(
            from: backup,
            to: storeConfiguration(configuration, .command),
            mayReplace: mayReplace,
            unless: isInterrupted,
            check: { content throws(StoreError) in try check(summary(content)) }
        )
        return DatabaseCopy(summary: summary(restore.content)) { () throws(StoreError) in
            try restore.publish(movingAside: suffix, mayReplace: mayReplace)
        }
    }

    /// Compares the database with itself, beside a serving process or alone, and changes nothing.
    static func verify(_ configuration: Configuration, _ keys: [ServerKey]) throws(StoreError)
        -> [VerifiedCheck]
    {
        try DatabaseVerification.run(storeConfiguration(configuration, .command), serverKeys: keys).checks.map
        {
            check in
            VerifiedCheck(
                name: check.name,
                scope: check.scope,
                findings: check.findings.map { ($0.text, $0.advice) }
            )
        }
    }

    /// Makes the counters agree with the facts, while nobody else has the database open.
    ///
    /// - Returns: the changes, at most a hundred as a line each, and how many there were.
    static func repairCounters(_ configuration: Configuration) throws(StoreError) -> (
        lines: [String], count: Int
    ) {
        try CounterRepair.run(storeConfiguration(configuration, .command))
    }

    /// The recorded clicks and checks of an app, beside a serving process or alone.
    static func history(
        _ configuration: Configuration,
        of app: AppID,
        isTest: Bool,
        remaking: FingerprintReconstruction
    ) throws(StoreError) -> any TrafficHistory {
        let settings = storeConfiguration(configuration, .reading)
        return try SQLiteHistory(settings, of: app, isTest: isTest, remaking: remaking)
    }

    /// Tells from its first bytes whether a file can be a database.
    ///
    /// - Throws: for an empty file, and for one of something else.
    static func checkIsDatabase(_ path: String) throws(StoreError) {
        try DatabaseSurvey.checkIsDatabase(path)
    }

    /// What a service should say of a process that has the database open before it.
    static func sharingWarnings(_ configuration: Configuration) -> [String] {
        guard let holder = DatabaseSurvey.holder(of: configuration.databasePath) else { return [] }
        let process = holder == 0 ? "another process" : "process \(holder)"
        return [
            "\(process) has the database open already: if it serves, too, both share clicks, matches and keys, and each"
                + " has rate limits and metrics of its own"
        ]
    }

    /// What there is to know of the database without changing it.
    static func survey(_ configuration: Configuration) throws(StoreError) -> DatabaseReport {
        try checkIsDatabase(configuration.databasePath)
        let survey = try DatabaseSurvey(storeConfiguration(configuration, .command))
        return DatabaseReport(
            path: survey.path,
            holder: survey.holder,
            summary: summary(survey.content),
            directory: survey.directory,
            writeAheadLogBytes: survey.writeAheadLogBytes,
            freeBytes: survey.freeBytes,
            clicksOfLastDay: survey.clicksOfLastDay,
            firstDay: survey.firstDay
        )
    }

    /// The name and version of the database's library.
    static var databaseLibrary: String { "SQLite \(DatabaseSurvey.libraryVersion)" }

    private static func summary(_ content: DatabaseContent) -> DatabaseSummary {
        DatabaseSummary(
            apps: content.apps,
            keys: content.keys,
            clicks: content.clicks,
            claims: content.claims,
            newestClickAt: content.newestClickAt,
            schemaVersion: content.schemaVersion,
            pendingMigrations: content.pendingMigrations,
            byteCount: content.byteCount,
            fits: { content.fits($0) }
        )
    }
}
