public import Attribution
internal import SQLite
public import Storage

/// A complete and verified copy of a database, which gets its name by ``publish()`` and is deleted otherwise.
public final class SQLiteBackup {
    /// What the copy contains.
    public let content: DatabaseSummary
    private let draft: DatabaseDraft
    private let mayReplace: Bool

    /// Copies a database into the folder of the copy's name, while other processes read and write it.
    ///
    /// The copy contains every write that was acknowledged before the call.
    ///
    /// - Parameters:
    ///   - configuration: the database.
    ///   - path: the copy's name.
    ///   - mayReplace: whether a file of that name is replaced.
    ///   - isInterrupted: called from time to time; true ends the copy.
    ///   - check: called with the summary of the database before it is copied; throws to refuse it.
    /// - Throws: an error that says what to do; no part of the copy remains.
    public init(
        of configuration: SQLiteConfiguration,
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) {
        let snapshot = try DatabaseSnapshot(configuration)
        let target = try StoreError.translating { () throws(SQLiteError) in
            let target = try DatabaseFile(path: path)
            try SQLiteBackup.refuseName(target, of: snapshot.file, mayReplace: mayReplace)
            return target
        }
        self.mayReplace = mayReplace
        (content, draft) = try snapshot.atOneMoment { () throws(StoreError) in
            let content = try snapshot.summary()
            try check(content)
            let (source, connection) = (snapshot.file, snapshot.connection)
            return (
                content, try makeDraft(source, content, from: connection, to: target, unless: isInterrupted)
            )
        }
        // After the end of the snapshot, which keeps the server from starting its log again.
        try StoreError.translating { () throws(SQLiteError) in try draft.verify(isThorough: false) }
    }

    /// Gives the copy its name, and returns when it is on disk.
    ///
    /// - Throws: `conflict` if the name was taken meanwhile.
    public func publish() throws(StoreError) {
        try StoreError.translating { () throws(SQLiteError) in try draft.publish(mayReplace: mayReplace) }
    }

    private static func refuseName(_ target: DatabaseFile, of source: DatabaseFile, mayReplace: Bool)
        throws(SQLiteError)
    {
        let (path, exists) = (target.path, DatabaseFile.exists(target.path))
        let own = ["", "-wal", "-shm", "-journal"].map { source.path + $0 }
        try refuse(
            own.contains(path) || DatabaseFile.isSameFile(path, source.path),
            "\(path) is the database itself; give the copy a name of its own"
        )
        try DatabaseFile.requireRegular(path)
        try refuse(
            DatabaseFile.byteCount(target.logPath) > 0 || DatabaseFile.holder(of: path) != nil,
            "\(path) is a database in use; give the copy a name of its own"
        )
        try refuse(exists && !mayReplace, "\(path) exists already; --overwrite replaces an earlier backup")
        // A mistyped name must not destroy another file, such as a key.
        try refuse(
            exists && !DatabaseFile.isDatabase(path, ofApplication: DatabaseOpening.applicationID),
            "\(path) is no backup of Afterlink's, and nothing else is replaced"
        )
    }
}

/// A complete and verified copy of a backup, which becomes the database by ``publish(movingAside:mayReplace:)`` and is
/// deleted otherwise.
public final class SQLiteRestore {
    /// What the backup contains.
    public let content: DatabaseSummary
    private let draft: DatabaseDraft

    /// Copies a backup into the database's folder, and verifies the copy.
    ///
    /// - Parameters:
    ///   - backup: the backup's path; symbolic links are followed.
    ///   - configuration: the database to replace or create.
    ///   - mayReplace: whether an existing database is moved aside.
    ///   - isInterrupted: called from time to time; true ends the copy.
    ///   - check: called with the summary of the backup before it is copied; throws to refuse it.
    /// - Throws: an error that says what to do; nothing has changed.
    public init(
        from backup: String,
        to configuration: SQLiteConfiguration,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) {
        var source = configuration
        let target = try StoreError.translating { () throws(SQLiteError) in
            let target = try DatabaseFile(path: configuration.path)
            try SQLiteRestore.refuseTarget(target, mayReplace: mayReplace)
            source.path = try DatabaseFile.resolved(backup)
            try refuse(
                DatabaseFile.isSameFile(source.path, target.path),
                "\(backup) is the database itself"
            )
            try refuse(
                DatabaseFile.byteCount(source.path + "-wal") > 0,
                "\(backup) has a write-ahead log beside it, so it is a database in use and no backup; make one with"
                    + " `afterlink backup`"
            )
            return target
        }
        let opening = try DatabaseOpening(source, migrations: Migration.embedded)
        guard DatabaseFile.exists(source.path) else {
            throw StoreError(.notFound, "there is no backup at \(backup)")
        }
        try StoreError.translating { () throws(SQLiteError) in try opening.file.requireHeader() }
        // No process writes to a backup, and its folder may be read-only.
        let connection = try opening.connect(.immutable, busyMilliseconds: 0)
        content = try DatabaseSummary(opening, connection)
        try check(content)
        draft = try makeDraft(opening.file, content, from: connection, to: target, unless: isInterrupted)
        try StoreError.translating { () throws(SQLiteError) in try draft.verify(isThorough: true) }
    }

    /// Makes the copy the database, and returns when that is on disk.
    ///
    /// - Parameters:
    ///   - suffix: appended to the name of an existing database, and of its log, to move them aside.
    ///   - mayReplace: whether an existing database is moved aside.
    /// - Returns: the path of what was moved aside; nil if nothing existed.
    /// - Throws: an error that says what to do.
    public func publish(movingAside suffix: String, mayReplace: Bool) throws(StoreError) -> String? {
        let target = draft.target
        return try StoreError.translating { () throws(SQLiteError) in
            // A server that starts now waits, and opens the new database.
            try target.whileNobodyElseOpens { () throws(SQLiteError) in
                try Self.refuseTarget(target, mayReplace: mayReplace)
                let aside = target.path + suffix
                let isThere = DatabaseFile.exists(target.path)
                // A log without its database must not meet the new database either.
                let hasLog = DatabaseFile.exists(target.logPath)
                try Self.moveAside(target, to: aside)
                try draft.publish(mayReplace: isThere)
                return isThere ? aside : hasLog ? aside + "-wal" : nil
            }
        }
    }

    /// Gives the old database a second name, and deletes its log, which must not meet the new database.
    private static func moveAside(_ target: DatabaseFile, to aside: String) throws(SQLiteError) {
        for suffix in ["", "-wal"] where DatabaseFile.exists(target.path + suffix) {
            let isNamed = try DatabaseFile.link(target.path + suffix, as: aside + suffix)
            try refuse(!isNamed, "\(aside + suffix) exists; move it away")
            try target.sync(aside + suffix)
        }
        for suffix in ["-wal", "-shm", "-journal"] { try DatabaseFile.remove(target.path + suffix) }
    }

    private static func refuseTarget(_ target: DatabaseFile, mayReplace: Bool) throws(SQLiteError) {
        if let holder = DatabaseFile.holder(of: target.path) {
            let process = holder > 0 ? "process \(holder)" : "another process"
            throw .refused(.busy, "\(process) has \(target.path) open; stop the service first")
        }
        try refuse(
            !mayReplace && DatabaseFile.exists(target.path),
            "\(target.path) exists already; --overwrite moves it aside and takes the backup instead"
        )
    }
}

/// Copies a database into a draft of `target`, whose suffix marks it as incomplete.
private func makeDraft(
    _ source: DatabaseFile,
    _ content: DatabaseSummary,
    from connection: SQLiteConnection,
    to target: DatabaseFile,
    unless isInterrupted: () -> Bool
) throws(StoreError) -> DatabaseDraft {
    try StoreError.translating { () throws(SQLiteError) in
        let suffix = ".afterlink-partial"
        let draft = try DatabaseDraft(of: target, suffix: suffix, from: source, byteCount: content.byteCount)
        try draft.fill(from: connection, unless: isInterrupted)
        return draft
    }
}

/// Throws a refusal for a name that must not be used.
private func refuse(_ isRefused: Bool, _ reason: @autoclosure () -> String) throws(SQLiteError) {
    if isRefused { throw .refused(.constraint, reason()) }
}
