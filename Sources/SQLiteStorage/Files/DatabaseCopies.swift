public import Attribution
internal import SQLite
public import Storage

/// Copies databases: makes a backup of a database, or replaces the database by a backup.
///
/// The functions return a complete and verified copy under a temporary name. Publishing a copy gives it its final name;
/// a copy that is not published is deleted.
public enum DatabaseCopies {
    /// Copies a database into the folder of `path`, while other processes read and write the database.
    ///
    /// The copy contains every write that was acknowledged before the call.
    ///
    /// - Parameters:
    ///   - configuration: the database.
    ///   - path: the final path of the copy.
    ///   - mayReplace: whether publishing may replace a file of that name.
    ///   - isInterrupted: called from time to time; true ends the copy.
    ///   - check: called with the summary of the database before it is copied; throws to refuse the copy.
    /// - Returns: the copy. Publishing it replaces a file of its name if `mayReplace` is true, and otherwise throws
    ///   `conflict` if such a file was created meanwhile.
    /// - Throws: an error that says what to do; no part of the copy remains.
    public static func backUp(
        _ configuration: SQLiteConfiguration,
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        let snapshot = try DatabaseSnapshot(configuration)
        let target = try StoreError.translating { () throws(SQLiteError) in
            let target = try DatabaseFile(path: path)
            try refuseName(target, of: snapshot.file, mayReplace: mayReplace)
            return target
        }
        let (summary, draft) = try snapshot.atOneMoment { () throws(StoreError) in
            let summary = try snapshot.summary()
            try check(summary)
            let (source, connection) = (snapshot.file, snapshot.connection)
            let draft = try makeDraft(source, summary, from: connection, to: target, unless: isInterrupted)
            return (summary, draft)
        }
        // Verify after the end of the snapshot, because a server cannot reset its write-ahead log during a snapshot.
        try StoreError.translating { () throws(SQLiteError) in try draft.verify(isThorough: false) }
        return DatabaseCopy(summary) { () throws(StoreError) in
            try StoreError.translating { () throws(SQLiteError) in try draft.publish(mayReplace: mayReplace) }
            return nil
        }
    }

    /// Copies a backup into the database's folder.
    ///
    /// - Parameters:
    ///   - backup: the backup's path; symbolic links are followed.
    ///   - configuration: the database to replace or create.
    ///   - suffix: appended to the name of an existing database, and of its log, to move them aside.
    ///   - mayReplace: whether an existing database may be moved aside.
    ///   - isInterrupted: called from time to time; true ends the copy.
    ///   - check: called with the summary of the backup before it is copied; throws to refuse the copy.
    /// - Returns: the copy. Publishing the copy moves the old database and its log aside, and returns the new path of the
    ///   old database, or of the log if there is only a log; nil if there is neither.
    /// - Throws: an error that says what to do; nothing has changed.
    public static func restore(
        _ backup: String,
        to configuration: SQLiteConfiguration,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy {
        var source = configuration
        let target = try StoreError.translating { () throws(SQLiteError) in
            let target = try DatabaseFile(path: configuration.path)
            try refuseTarget(target, mayReplace: mayReplace)
            source.path = try DatabaseFile.resolved(backup)
            try refuse(DatabaseFile.isSameFile(source.path, target.path), "\(backup) is the database itself")
            try refuse(
                DatabaseFile.byteCount(source.path + "-wal") > 0,
                "\(backup) has a write-ahead log beside it, so it is a database in use and no backup; make one with"
                    + " `afterlink backup`"
            )
            return target
        }
        let opening = try DatabaseOpening(source)
        guard DatabaseFile.exists(source.path) else {
            throw StoreError(.notFound, "there is no backup at \(backup)")
        }
        try StoreError.translating { () throws(SQLiteError) in try opening.file.requireHeader() }
        // No process writes to a backup, and its folder may be read-only.
        let connection = try opening.connect(.immutable, busyMilliseconds: 0)
        let summary = try DatabaseSummary(opening, connection)
        try check(summary)
        let draft = try makeDraft(opening.file, summary, from: connection, to: target, unless: isInterrupted)
        try StoreError.translating { () throws(SQLiteError) in try draft.verify(isThorough: true) }
        return DatabaseCopy(summary) { () throws(StoreError) in
            try StoreError.translating { () throws(SQLiteError) in
                try publish(draft, movingAside: suffix, mayReplace: mayReplace)
            }
        }
    }

    private static func publish(_ draft: DatabaseDraft, movingAside suffix: String, mayReplace: Bool)
        throws(SQLiteError) -> String?
    {
        let target = draft.target
        // A server that starts now waits, and opens the new database.
        return try target.withExclusiveOpening { () throws(SQLiteError) in
            try refuseTarget(target, mayReplace: mayReplace)
            let aside = target.path + suffix
            let isThere = DatabaseFile.exists(target.path)
            // Also move a log without a database: SQLite must not apply it to the new database.
            let hasLog = DatabaseFile.exists(target.logPath)
            // Sync first, because this may fail or take long: between the next two steps, the old database
            // lacks its log.
            try draft.sync()
            try moveAside(target, to: aside)
            try draft.publish(mayReplace: isThere)
            return isThere ? aside : hasLog ? aside + "-wal" : nil
        }
    }

    /// Copies a database into a draft: a file named as `target`, with a suffix that marks it as incomplete.
    private static func makeDraft(
        _ source: DatabaseFile,
        _ summary: DatabaseSummary,
        from connection: SQLiteConnection,
        to target: DatabaseFile,
        unless isInterrupted: () -> Bool
    ) throws(StoreError) -> DatabaseDraft {
        try StoreError.translating { () throws(SQLiteError) in
            let suffix = ".afterlink-partial"
            let bytes = summary.byteCount
            let draft = try DatabaseDraft(of: target, suffix: suffix, from: source, byteCount: bytes)
            try draft.fill(from: connection, unless: isInterrupted)
            return draft
        }
    }
}

/// Refuses names of files, and moves an existing database aside.
extension DatabaseCopies {
    private static func refuseName(_ target: DatabaseFile, of source: DatabaseFile, mayReplace: Bool)
        throws(SQLiteError)
    {
        let (path, exists) = (target.path, DatabaseFile.exists(target.path))
        let own = ["", "-wal", "-shm", "-journal"].map { source.path + $0 }
        try refuse(
            own.contains(path) || DatabaseFile.isSameFile(path, source.path),
            "\(path) is the database itself; give the copy another name"
        )
        try DatabaseFile.requireRegular(path)
        try refuse(
            DatabaseFile.byteCount(target.logPath) > 0 || DatabaseFile.holder(of: path) != nil,
            "\(path) is a database in use; give the copy another name"
        )
        try refuse(exists && !mayReplace, "\(path) exists already; --overwrite replaces an earlier backup")
        // A mistyped name must not destroy another file, such as a key.
        try refuse(
            exists && !DatabaseFile.isDatabase(path, ofApplication: DatabaseOpening.applicationID),
            "\(path) is not a backup that Afterlink made, and --overwrite replaces only such backups"
        )
    }

    private static func refuseTarget(_ target: DatabaseFile, mayReplace: Bool) throws(SQLiteError) {
        if let holder = DatabaseFile.holder(of: target.path) {
            let process = holder > 0 ? "process \(holder)" : "another process"
            throw .refused(.busy, "\(process) has \(target.path) open; stop the service first")
        }
        try refuse(
            !mayReplace && DatabaseFile.exists(target.path),
            "\(target.path) exists already; --overwrite moves it aside and restores the backup"
        )
    }

    /// Throws a refusal with `reason` if `isRefused` is true.
    private static func refuse(_ isRefused: Bool, _ reason: @autoclosure () -> String) throws(SQLiteError) {
        if isRefused { throw .refused(.constraint, reason()) }
    }

    /// Gives the old database and its log second names with the prefix `aside`, and removes the first name of the log.
    ///
    /// If the log kept its first name, SQLite would apply it to the new database. The function also deletes the files
    /// `-shm` and `-journal`. The database keeps its first name until the new database takes it.
    private static func moveAside(_ target: DatabaseFile, to aside: String) throws(SQLiteError) {
        for suffix in ["", "-wal"] where DatabaseFile.exists(target.path + suffix) {
            let isNamed = try DatabaseFile.link(target.path + suffix, as: aside + suffix)
            try refuse(!isNamed, "\(aside + suffix) exists; move it away")
            try target.sync(aside + suffix)
        }
        for suffix in ["-wal", "-shm", "-journal"] { try DatabaseFile.remove(target.path + suffix) }
    }
}
