import Glibc

/// A copy of a database in the making, beside its final name: it gets the name when it is complete and on disk, and is
/// deleted otherwise.
///
/// The draft's own name ends with a suffix. A killed process leaves the draft behind, and the next draft overwrites it.
public final class DatabaseDraft {
    public let target: DatabaseFile
    public let path: String
    /// Closed in `deinit`; its lock keeps other processes from the draft until then.
    private let descriptor: Int32
    private var isPublished = false

    /// Creates the draft, empty.
    ///
    /// - Parameters:
    ///   - target: the final name.
    ///   - suffix: what the draft's name has in addition.
    ///   - source: the database to copy, which must not be overwritten.
    ///   - byteCount: the size of the copy.
    /// - Throws: `full` if the disk lacks the space, `constraint` or `busy` if the draft's name is in use.
    public init(of target: DatabaseFile, suffix: String, from source: DatabaseFile, byteCount: Int64)
        throws(SQLiteError)
    {
        let path = target.path + suffix
        (self.target, self.path) = (target, path)
        if let free = DatabaseFile.freeByteCount(inFolder: target.folder), free < byteCount {
            throw .refused(
                .full,
                "the copy needs \(byteCount) bytes, and \(target.folder) has \(free) left; make room, or give"
                    + " a folder on another disk"
            )
        }
        try DatabaseFile.requireRegular(path)
        guard !DatabaseFile.isSameFile(path, source.path), DatabaseFile.holder(of: path) == nil else {
            throw .refused(.constraint, "\(path) is a database in use, and the copy's name while it is made")
        }
        // The path outlives the call.
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DatabaseFile.failure("creating", path) }
        // The process that wrote the last draft may have published it meanwhile.
        let identity = FileIdentity(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, identity != nil, FileIdentity(link: path) == identity
        else {
            // Another process's file is not deleted.
            isPublished = true
            throw .refused(.busy, "another process is writing \(path) at this moment; wait for it")
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
            throw DatabaseFile.failure("emptying", path)
        }
        giveToOwnerOfFolder()
    }

    deinit {
        // The path outlives the call.
        if !isPublished { _ = unsafe unlink(path) }
        close(descriptor)
    }

    /// Syncs the draft to disk.
    private func sync() throws(SQLiteError) {
        guard fsync(descriptor) == 0 else { throw DatabaseFile.failure("syncing", path) }
    }

    /// Gives the draft its final name, and returns when the name is on disk.
    ///
    /// - Throws: `constraint` if the name is taken and must not be replaced.
    public func publish(mayReplace: Bool) throws(SQLiteError) {
        try sync()
        if mayReplace {
            try DatabaseFile.rename(path, to: target.path)
        } else {
            guard try DatabaseFile.link(path, as: target.path) else {
                throw .refused(.constraint, "\(target.path) exists")
            }
            try DatabaseFile.remove(path)
        }
        isPublished = true
        try target.sync(target.path)
    }

    /// Gives a draft that root creates to the owner of the folder: the service runs as that user.
    private func giveToOwnerOfFolder() {
        var status = stat()
        // The value outlives the call.
        guard geteuid() == 0, unsafe stat(target.folder, &status) == 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// The number of pages that are copied at once.
    private static let stepPages: Int32 = 256
    /// The number of pages after which the draft is synced: on many file systems, syncs of other files wait for all
    /// unwritten pages.
    private static let syncedPages = 2048

    /// Copies the source, as it is in its open transaction, into the draft.
    ///
    /// - Parameters:
    ///   - source: a connection in a read transaction.
    ///   - isInterrupted: called after each step; true ends the copy.
    /// - Throws: `interrupted` if `isInterrupted` returned true.
    public func fill(from source: SQLiteConnection, unless isInterrupted: () -> Bool) throws(SQLiteError) {
        try naming { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            // No other process reads the draft before it is published and synced, so that nothing needs a rollback.
            try connection.execute("PRAGMA synchronous = OFF")
            try connection.execute("PRAGMA journal_mode = MEMORY")
            try connection.execute("PRAGMA cache_size = -2048")
            let copy = try OnlineBackup(from: source, to: connection)
            var synced = 0
            while try copy.step(pages: Self.stepPages) {
                if isInterrupted() {
                    throw .refused(.interrupted, "the copy was interrupted, and nothing is left of it")
                }
                let copied = copy.progress.pageCount - copy.progress.remaining
                guard copied - synced >= Self.syncedPages else { continue }
                synced = copied
                try sync()
            }
            try copy.finish()
        }
    }

    /// Reads the whole draft and verifies that it is consistent.
    ///
    /// - Parameter isThorough: also compares each index with its table, which takes several times as long.
    /// - Throws: `corrupt` with the first problem.
    public func verify(isThorough: Bool) throws(SQLiteError) {
        try naming { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .immutable, busyMilliseconds: 0)
            let problems = try connection.integrityProblems(isThorough: isThorough)
            if let first = problems.first { throw Self.corrupt(first) }
        }
    }

    /// Adds the draft's path to SQLite's errors; a corrupt draft has a sentence of its own.
    private func naming(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        do throws(SQLiteError) {
            try body()
        } catch {
            let isCorrupt = error.code == .corrupt || error.code == .notADatabase
            throw isCorrupt && !error.isRefusal ? Self.corrupt(error.message) : error.naming(path)
        }
    }

    private static func corrupt(_ detail: String) -> SQLiteError {
        .refused(.corrupt, "what is to be copied is damaged, and no copy is left of it: \(detail)")
    }
}
