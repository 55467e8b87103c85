internal import Attribution
internal import SQLiteStorage
internal import Storage

// Operations of commands on a whole database.

extension Wiring {
    /// Copies the database while others use it, under a temporary name beside the copy's.
    ///
    /// - Parameters:
    ///   - configuration: names the database.
    ///   - path: the copy's name.
    ///   - mayReplace: whether a file of that name is replaced.
    ///   - isInterrupted: called now and then; true ends the copy.
    ///   - check: throws if the database must not be copied.
    /// - Returns: the copy, whole and on disk, without its name.
    /// - Throws: an error that says what to do; then the copy is deleted.
    static func backUp(
        _ configuration: Configuration,
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        switch kind(of: configuration) {
        case .sqlite:
            let backup = try SQLiteBackup(
                of: storeConfiguration(configuration, .command),
                to: path,
                mayReplace: mayReplace,
                unless: isInterrupted,
                check: check
            )
            return DatabaseCopy(summary: backup.content) { () throws(StoreError) in
                try backup.publish()
                return nil
            }
        }
    }

    /// Copies a backup under a temporary name beside the database's.
    ///
    /// - Parameters:
    ///   - backup: the backup's path.
    ///   - configuration: names the database.
    ///   - suffix: the suffix of the name that the previous database is kept under.
    ///   - mayReplace: whether an existing database is moved aside.
    ///   - isInterrupted: called now and then; true ends the copy.
    ///   - check: throws if the backup must not be restored.
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
        switch kind(of: configuration) {
        case .sqlite:
            let restore = try SQLiteRestore(
                from: backup,
                to: storeConfiguration(configuration, .command),
                mayReplace: mayReplace,
                unless: isInterrupted,
                check: check
            )
            return DatabaseCopy(summary: restore.content) { () throws(StoreError) in
                try restore.publish(movingAside: suffix, mayReplace: mayReplace)
            }
        }
    }

    /// Verifies the database, while a process serves or not, and changes nothing.
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

    /// Returns the recorded clicks and checks of an app, while a process serves or not.
    static func history(
        _ configuration: Configuration,
        of app: AppID,
        isTest: Bool,
        remaking: FingerprintReconstruction
    ) throws(StoreError) -> any TrafficHistory {
        switch kind(of: configuration) {
        case .sqlite:
            let settings = storeConfiguration(configuration, .reading)
            return try SQLiteHistory(settings, of: app, isTest: isTest, remaking: remaking)
        }
    }

    /// Checks from its first bytes that a file can be a database.
    ///
    /// - Throws: for an empty file, and for one of another program.
    static func checkIsDatabase(_ path: String) throws(StoreError) {
        try DatabaseSurvey.checkIsDatabase(path)
    }

    /// Returns a warning if another process has the database open.
    static func sharingWarnings(_ configuration: Configuration) -> [String] {
        guard let holder = DatabaseSurvey.holder(of: configuration.databasePath) else { return [] }
        let process = holder == 0 ? "another process" : "process \(holder)"
        return [
            "\(process) has the database open already: if it serves, too, both share clicks, matches and keys, and each"
                + " has rate limits and metrics of its own"
        ]
    }

    /// Examines the database without changing it.
    static func survey(_ configuration: Configuration) throws(StoreError) -> DatabaseReport {
        try checkIsDatabase(configuration.databasePath)
        let survey = try DatabaseSurvey(storeConfiguration(configuration, .command))
        return DatabaseReport(
            path: survey.path,
            holder: survey.holder,
            summary: survey.content,
            directory: survey.directory,
            writeAheadLogBytes: survey.writeAheadLogBytes,
            freeBytes: survey.freeBytes,
            clicksOfLastDay: survey.clicksOfLastDay,
            firstDay: survey.firstDay
        )
    }

    /// The name and version of the database's library.
    static var databaseLibrary: String { "SQLite \(DatabaseSurvey.libraryVersion)" }
}
