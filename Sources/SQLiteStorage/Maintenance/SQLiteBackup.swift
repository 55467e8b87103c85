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
            try Self.refuseFullDisk(target, content)
            let draft = try DatabaseDraft(of: target, from: look.file)
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

    private static func refuseName(
        _ target: DatabaseFile,
        of source: DatabaseFile,
        mayReplace: Bool
    ) throws(StoreError) {
        let own = ["", "-wal", "-shm", "-journal"].map { source.path + $0 }
        if own.contains(target.path) || DatabaseFile.isSameFile(target.path, source.path) {
            throw StoreError(
                .conflict,
                "\(target.path) is the database itself; give the copy a name of its own"
            )
        }
        try DatabaseFile.refuseUnlessRegular(target.path)
        guard DatabaseFile.byteCount(target.logPath) == 0, DatabaseUse.holder(of: target.path) == nil else {
            throw StoreError(
                .conflict,
                "\(target.path) is a database in use; give the copy a name of its own"
            )
        }
        guard mayReplace || !DatabaseFile.exists(target.path) else {
            throw StoreError(
                .conflict,
                "\(target.path) exists already; --overwrite replaces an earlier backup"
            )
        }
        // Whatever else has the name, a key or somebody's letter, is not to be lost by a slip.
        guard !DatabaseFile.exists(target.path) || DatabaseFile.isOurs(target.path) else {
            throw StoreError(
                .conflict,
                "\(target.path) is no backup of Afterlink's, and nothing else is replaced"
            )
        }
    }

    static func refuseFullDisk(_ target: DatabaseFile, _ content: DatabaseSummary) throws(StoreError) {
        guard let free = DatabaseFile.freeByteCount(inFolder: target.folder), free < content.byteCount else {
            return
        }
        throw StoreError(
            .full,
            "the copy needs \(content.byteCount) bytes, and \(target.folder) has \(free) left; make room, or give"
                + " a folder on another disk"
        )
    }
}
