public import Attribution
internal import SQLite
public import Storage

/// A backup on its way to being the database, whole and checked; without ``publish(movingAside:)`` it is deleted.
public final class SQLiteRestore {
    /// What the backup holds.
    public let content: DatabaseSummary
    private let draft: DatabaseDraft

    /// Copies a backup beside the database that it is to be, and reads all of the copy.
    ///
    /// - Parameters:
    ///   - backup: the backup's path; symbolic links are followed.
    ///   - configuration: the database to be.
    ///   - mayReplace: whether a database that is there is moved aside.
    ///   - isInterrupted: asked now and then; true ends the copy.
    ///   - check: called with what the backup holds, before it is copied; throws what speaks against it.
    /// - Throws: an error that says what to do; then nothing has changed.
    public init(
        from backup: String,
        to configuration: SQLiteConfiguration,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) {
        let target = try DatabaseFile(path: configuration.path)
        try Self.refuseTarget(target, mayReplace: mayReplace)
        var source = configuration
        source.path = try DatabaseFile.resolved(backup)
        guard !DatabaseFile.isSameFile(source.path, target.path) else {
            throw StoreError(.conflict, "\(backup) is the database itself")
        }
        guard DatabaseFile.byteCount(source.path + "-wal") == 0 else {
            throw StoreError(
                .conflict,
                "\(backup) has a write-ahead log beside it, so it is a database in use and no backup; make one with"
                    + " `afterlink backup`"
            )
        }
        let opening = try DatabaseOpening(source, migrations: Migration.embedded)
        guard DatabaseFile.exists(source.path) else {
            throw StoreError(.notFound, "there is no backup at \(backup)")
        }
        try opening.file.checkHeader()
        // A backup is written by nobody, and may lie where nothing can be put beside it.
        let connection = try opening.translated { () throws(SQLiteError) in
            try SQLiteConnection(path: opening.file.path, access: .immutable, busyMilliseconds: 0)
        }
        content = try DatabaseSummary(opening, connection)
        try check(content)
        try SQLiteBackup.refuseFullDisk(target, content)
        draft = try DatabaseDraft(of: target, from: opening.file)
        try draft.fill(from: connection, unless: isInterrupted)
        try draft.check(isThorough: true)
    }

    /// Makes the copy the database, and returns when that is on disk.
    ///
    /// - Parameters:
    ///   - suffix: what is appended to the name of a database that is moved aside, and of its log.
    ///   - mayReplace: whether a database that is there is moved aside.
    /// - Returns: the path of what was moved aside; nil where there was nothing.
    /// - Throws: an error that says what to do.
    public func publish(movingAside suffix: String, mayReplace: Bool) throws(StoreError) -> String? {
        let target = draft.target
        // A server that starts now waits, and finds the new database.
        return try target.whileNobodyElseOpens { () throws(StoreError) in
            try Self.refuseTarget(target, mayReplace: mayReplace)
            let aside = target.path + suffix
            let isThere = DatabaseFile.exists(target.path)
            // One that lies about without its database must not meet another one either.
            let hasLog = DatabaseFile.exists(target.logPath)
            try Self.moveAside(target, to: aside)
            try draft.publish(mayReplace: isThere)
            return isThere ? aside : hasLog ? aside + "-wal" : nil
        }
    }

    /// Gives the old database a second name, and takes away its log, which must never meet the new one.
    private static func moveAside(_ target: DatabaseFile, to aside: String) throws(StoreError) {
        for suffix in ["", "-wal"] where DatabaseFile.exists(target.path + suffix) {
            guard try DatabaseFile.link(target.path + suffix, as: aside + suffix) else {
                throw StoreError(.conflict, "\(aside + suffix) exists; move it away")
            }
            try target.sync(aside + suffix)
        }
        for suffix in ["-wal", "-shm", "-journal"] { try DatabaseFile.remove(target.path + suffix) }
    }

    private static func refuseTarget(_ target: DatabaseFile, mayReplace: Bool) throws(StoreError) {
        if let holder = DatabaseUse.holder(of: target.path) {
            let process = holder > 0 ? "process \(holder)" : "another process"
            throw StoreError(.locked, "\(process) has \(target.path) open; stop the service first")
        }
        guard mayReplace || !DatabaseFile.exists(target.path) else {
            throw StoreError(
                .conflict,
                "\(target.path) exists already; --overwrite moves it aside and takes the backup instead"
            )
        }
    }
}
