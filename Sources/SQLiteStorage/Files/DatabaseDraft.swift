internal import Attribution
import Glibc
internal import SQLite
internal import Storage

/// A file beside the one that it will be: it gets its name when it is whole and on disk, and is deleted otherwise.
///
/// What a killed process leaves behind is called `….afterlink-partial`, so that nobody takes it for whole or gives a
/// file of his own that name, and is overwritten by the next one.
final class DatabaseDraft {
    let target: DatabaseFile
    /// Closed by `deinit`; its lock keeps others from the draft until then.
    private let descriptor: Int32
    private var isPublished = false

    var path: String { Self.path(of: target) }

    /// Makes the file, empty.
    ///
    /// - Parameters:
    ///   - target: the name that it will get.
    ///   - source: what will be copied, which must not be overwritten.
    ///   - content: what it holds.
    /// - Throws: `full` when there is no room for it, `conflict` or `locked` when its name is taken for the time of the copy.
    init(of target: DatabaseFile, from source: DatabaseFile, _ content: DatabaseSummary) throws(StoreError) {
        self.target = target
        if let free = DatabaseFile.freeByteCount(inFolder: target.folder), free < content.byteCount {
            throw StoreError(
                .full,
                "the copy needs \(content.byteCount) bytes, and \(target.folder) has \(free) left; make room, or give"
                    + " a folder on another disk"
            )
        }
        let name = Self.path(of: target)
        try DatabaseFile.refuseUnlessRegular(name)
        guard !DatabaseFile.isSameFile(name, source.path), DatabaseFile.holder(of: name) == nil else {
            throw StoreError(.conflict, "\(name) is a database in use, and the copy's name while it is made")
        }
        // The path outlives the call.
        descriptor = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw DatabaseFile.failure("creating", name) }
        // Its last writer may have published it meanwhile.
        let identity = FileIdentity(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, identity != nil, FileIdentity(link: name) == identity
        else {
            // Not ours to delete.
            isPublished = true
            throw StoreError(.locked, "another process is writing \(name) at this moment; wait for it")
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
            throw DatabaseFile.failure("emptying", name)
        }
        giveToOwnerOfFolder()
    }

    private static func path(of target: DatabaseFile) -> String {
        target.path + ".afterlink-partial"
    }

    deinit {
        // The path outlives the call.
        if !isPublished { _ = unsafe unlink(path) }
        close(descriptor)
    }

    /// Returns when what was written is on disk.
    func sync() throws(StoreError) {
        guard fsync(descriptor) == 0 else { throw DatabaseFile.failure("syncing", path) }
    }

    /// Gives the file its name, and returns when that is on disk.
    ///
    /// - Throws: `conflict` when the name is taken and may not be.
    func publish(mayReplace: Bool) throws(StoreError) {
        try sync()
        if mayReplace {
            try DatabaseFile.rename(path, to: target.path)
        } else {
            guard try DatabaseFile.link(path, as: target.path) else {
                throw StoreError(.conflict, "\(target.path) exists")
            }
            try DatabaseFile.remove(path)
        }
        isPublished = true
        try target.sync(target.path)
    }

    /// What root copies into a service's folder is for the service, which runs as somebody else.
    private func giveToOwnerOfFolder() {
        var status = stat()
        // The value outlives the call.
        guard geteuid() == 0, unsafe stat(target.folder, &status) == 0 else { return }
        _ = fchown(descriptor, status.st_uid, status.st_gid)
    }

    /// Pages copied at once.
    private static let stepPages: Int32 = 256
    /// Pages after which the draft is synced: on many file systems, what others sync meanwhile waits for all that
    /// is not written yet.
    private static let syncedPages = 2048

    /// Fills the draft with what the source holds at the moment of its open transaction.
    ///
    /// - Parameters:
    ///   - source: within a read transaction.
    ///   - isInterrupted: asked now and then; true ends the copy.
    /// - Throws: `stopping` when it was interrupted.
    func fill(from source: SQLiteConnection, unless isInterrupted: () -> Bool) throws(StoreError) {
        let copy = try translated { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .readWrite, busyMilliseconds: 0)
            // The draft is nobody's before it is published, and synced before that: nothing needs to be undone.
            try connection.execute("PRAGMA synchronous = OFF")
            try connection.execute("PRAGMA journal_mode = MEMORY")
            try connection.execute("PRAGMA cache_size = -2048")
            return try OnlineBackup(from: source, to: connection)
        }
        var synced = 0
        while try translated({ () throws(SQLiteError) in try copy.step(pages: Self.stepPages) }) {
            if isInterrupted() {
                throw StoreError(.stopping, "the copy was interrupted, and nothing is left of it")
            }
            let copied = copy.progress.pageCount - copy.progress.remaining
            guard copied - synced >= Self.syncedPages else { continue }
            synced = copied
            try sync()
        }
        try translated { () throws(SQLiteError) in try copy.finish() }
    }

    /// Reads all of the draft and compares it with itself.
    ///
    /// - Parameter isThorough: also compares each index with its table, which takes several times as long.
    /// - Throws: `corrupted` with the first difference.
    func check(isThorough: Bool) throws(StoreError) {
        let problems = try translated { () throws(SQLiteError) in
            let connection = try SQLiteConnection(path: path, access: .immutable, busyMilliseconds: 0)
            return try SQLiteReader(connection: connection).integrityProblems(isThorough: isThorough)
        }
        if let first = problems.first { throw Self.damaged(first) }
    }

    private func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            let cause = StoreError(error)
            guard cause.code != .corrupted else { throw Self.damaged(error.message) }
            throw StoreError(cause.code, "\(path): \(cause.explanation)")
        }
    }

    private static func damaged(_ detail: String) -> StoreError {
        StoreError(.corrupted, "what is to be copied is damaged, and no copy is left of it: \(detail)")
    }
}
