import Glibc

/// An incomplete copy of a database, in a file beside the final name.
///
/// Its name has an additional suffix. ``publish(mayReplace:)`` syncs the file to disk and gives it the final name; a
/// draft that is not published is deleted. A killed process leaves its draft behind, and the next draft overwrites it.
public final class DatabaseDraft {
    public let target: DatabaseFile
    public let path: String
    /// The open draft, which `deinit` closes; until then, its lock keeps other processes from the draft.
    private let descriptor: Int32
    private var isPublished = false

    /// Creates an empty draft.
    ///
    /// - Parameters:
    ///   - target: the file with the final name.
    ///   - suffix: the text that follows the final name in the draft's name.
    ///   - source: the database to copy, which the draft must not overwrite.
    ///   - byteCount: the size of the copy in bytes.
    /// - Throws: `full` if the disk lacks the space, `constraint` or `busy` if the draft's name is in use, or an error
    ///   of the file system.
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
            throw .refused(.constraint, "\(path), the copy's temporary name, is a database in use")
        }
        // The path outlives the call.
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DatabaseFile.failure("creating", path) }
        // The process that wrote the last draft may have published or deleted the file since this one opened
        // it.
        let identity = FileIdentity(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, identity != nil, FileIdentity(link: path) == identity
        else {
            // Keep `deinit` from deleting the other process's file.
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
    public func sync() throws(SQLiteError) {
        guard fsync(descriptor) == 0 else { throw DatabaseFile.failure("syncing", path) }
    }

    /// Syncs the draft, gives it its final name, and returns when the name is on disk.
    ///
    /// - Throws: `constraint` if a file has the final name and must not be replaced.
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

    /// The number of pages that each step copies.
    private static let stepPages: Int32 = 256
    /// If this many pages were copied since the last sync, the draft is synced.
    ///
    /// On many file systems, a sync of another file waits until all unwritten pages are on disk, so there
    /// must be few unwritten pages.
    private static let syncedPages = 2048

    /// Copies the source into the draft, in the state that its open transaction reads.
    ///
    /// - Parameters:
    ///   - source: a connection in a read transaction.
    ///   - isInterrupted: called after each step except the last; true ends the copy.
    /// - Throws: `interrupted` if `isInterrupted` returned true.
    public func fill(from source: SQLiteConnection, unless isInterrupted: () -> Bool) throws(SQLiteError) {
        try naming { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            // No other process reads the draft before it is published and synced, so nothing needs a rollback.
            try connection.execute("PRAGMA synchronous = OFF")
            try connection.execute("PRAGMA journal_mode = MEMORY")
            try connection.execute("PRAGMA cache_size = -2048")
            let copy = try OnlineBackup(from: source, to: connection)
            var synced = 0
            while try copy.step(pages: Self.stepPages) {
                if isInterrupted() {
                    throw .refused(.interrupted, "the copy was interrupted, and its file is deleted")
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

    /// Adds the draft's path to SQLite's errors; replaces the message if the draft is corrupt.
    private func naming(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        do throws(SQLiteError) {
            try body()
        } catch {
            let isCorrupt = error.code == .corrupt || error.code == .notADatabase
            throw isCorrupt && !error.isRefusal ? Self.corrupt(error.message) : error.naming(path)
        }
    }

    private static func corrupt(_ detail: String) -> SQLiteError {
        .refused(.corrupt, "the copied database is damaged, and its copy is deleted: \(detail)")
    }
}
