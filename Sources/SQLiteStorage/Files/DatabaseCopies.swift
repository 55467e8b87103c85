public import Attribution
internal import SQLite
public import Storage

/// A copy of a database, whole and checked, that gets its name by ``publish()``; without that it is deleted.
public final class SQLiteBackup {
    /// What the copy holds.
    public let content: DatabaseSummary
    private let draft: DatabaseDraft
    private let mayReplace: Bool

    /// Copies a database beside the name that the copy is to have, while others read and write it.
    ///
    /// The copy holds everything that was acknowledged before the call.
    ///
    /// - Parameters:
    ///   - configuration: the database.
    ///   - path: the copy's name.
    ///   - mayReplace: whether a file of that name is replaced.
    ///   - isInterrupted: asked now and then; true ends the copy.
    ///   - check: called with what will be copied, before it is; throws what speaks against it.
    /// - Throws: an error that says what to do; then nothing is left of the copy.
    public init(
        of configuration: SQLiteConfiguration,
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) {
        let look = try DatabaseSnapshot(configuration)
        let target = try DatabaseFile(path: path)
        try Self.refuseName(target, of: look.file, mayReplace: mayReplace)
        self.mayReplace = mayReplace
        (content, draft) = try look.atOneMoment { () throws(StoreError) in
            let content = try look.content()
            try check(content)
            let draft = try DatabaseDraft(of: target, from: look.file, content)
            try draft.fill(from: look.connection, unless: isInterrupted)
            return (content, draft)
        }
        // After the snapshot was given up: the server's log need not grow meanwhile.
        try draft.check(isThorough: false)
    }

    /// Gives the copy its name, and returns when it is on disk.
    ///
    /// - Throws: `conflict` when the name was taken meanwhile.
    public func publish() throws(StoreError) {
        try draft.publish(mayReplace: mayReplace)
    }

    private static func refuseName(_ target: DatabaseFile, of source: DatabaseFile, mayReplace: Bool)
        throws(StoreError)
    {
        let (path, exists) = (target.path, DatabaseFile.exists(target.path))
        let own = ["", "-wal", "-shm", "-journal"].map { source.path + $0 }
        try refuse(
            own.contains(path) || DatabaseFile.isSameFile(path, source.path),
            "\(path) is the database itself; give the copy a name of its own"
        )
        try DatabaseFile.refuseUnlessRegular(path)
        try refuse(
            DatabaseFile.byteCount(target.logPath) > 0 || DatabaseFile.holder(of: path) != nil,
            "\(path) is a database in use; give the copy a name of its own"
        )
        try refuse(
            exists && !mayReplace,
            "\(path) exists already; --overwrite replaces an earlier backup"
        )
        // Whatever else has the name, a key or a letter, is not to be lost by a slip.
        try refuse(
            exists && !DatabaseFile.isOurs(path),
            "\(path) is no backup of Afterlink's, and nothing else is replaced"
        )
    }
}

/// A backup on its way to being the database, whole and checked; without ``publish(movingAside:mayReplace:)`` it is
/// deleted.
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
        try refuse(
            DatabaseFile.isSameFile(source.path, target.path),
            "\(backup) is the database itself"
        )
        try refuse(
            DatabaseFile.byteCount(source.path + "-wal") > 0,
            "\(backup) has a write-ahead log beside it, so it is a database in use and no backup; make one with"
                + " `afterlink backup`"
        )
        let opening = try DatabaseOpening(source, migrations: Migration.embedded)
        guard DatabaseFile.exists(source.path) else {
            throw StoreError(.notFound, "there is no backup at \(backup)")
        }
        try opening.file.checkHeader()
        // A backup is written by nobody, and may lie where nothing can be put beside it.
        let connection = try opening.connect(.immutable, busyMilliseconds: 0)
        content = try DatabaseSummary(opening, connection)
        try check(content)
        draft = try DatabaseDraft(of: target, from: opening.file, content)
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
            let isNamed = try DatabaseFile.link(target.path + suffix, as: aside + suffix)
            try refuse(!isNamed, "\(aside + suffix) exists; move it away")
            try target.sync(aside + suffix)
        }
        for suffix in ["-wal", "-shm", "-journal"] { try DatabaseFile.remove(target.path + suffix) }
    }

    private static func refuseTarget(_ target: DatabaseFile, mayReplace: Bool) throws(StoreError) {
        if let holder = DatabaseFile.holder(of: target.path) {
            let process = holder > 0 ? "process \(holder)" : "another process"
            throw StoreError(.locked, "\(process) has \(target.path) open; stop the service first")
        }
        try refuse(
            !mayReplace && DatabaseFile.exists(target.path),
            "\(target.path) exists already; --overwrite moves it aside and takes the backup instead"
        )
    }
}

/// Throws `conflict` with the reason where a name must not be used.
private func refuse(_ isRefused: Bool, _ reason: @autoclosure () -> String) throws(StoreError) {
    if isRefused { throw StoreError(.conflict, reason()) }
}
