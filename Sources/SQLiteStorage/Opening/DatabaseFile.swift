internal import Attribution
import Glibc

/// The database's file and those beside it, before SQLite opens them.
struct DatabaseFile: Sendable {
    /// Without symbolic links in its folders.
    let path: String
    let folder: String

    var logPath: String { path + "-wal" }

    /// - Throws: when the folder is not there.
    init(path: String) throws(StoreError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        guard !name.isEmpty else {
            throw StoreError(.notFound, "\(path) names a folder, not a database file")
        }
        // The result is allocated by the call and freed below; nil asks for that.
        guard let resolved = unsafe realpath(folder, nil) else {
            throw StoreError(
                .notFound,
                "the folder \(folder) cannot be reached: \(Self.lastError()); create it"
            )
        }
        defer { unsafe free(resolved) }
        // realpath gives a text that ends in a zero.
        self.folder = unsafe String(cString: resolved)
        self.path = self.folder == "/" ? "/" + name : self.folder + "/" + name
    }

    /// Runs `body` after whoever else is opening a database of this folder.
    ///
    /// Several that make one at once would see it half made, and SQLite does not wait while another connection
    /// switches to a write-ahead log.
    func whileNobodyElseOpens<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        // The path outlives the call.
        let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that cannot be read, or whose file system has no such locks, goes without.
        guard descriptor >= 0 else { return try body() }
        // Gives up the lock as well.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }

    /// Makes an empty file that only its owner may read, where there is none yet.
    ///
    /// SQLite gives the files beside it the same mode.
    func createIfMissing() throws(StoreError) {
        if try !createEmpty(path) { try checkHeader() }
    }

    /// A new name for a copy of the database as it was at `version`, and an empty file of that name.
    func createBackupFile(version: Int64, at now: Timestamp) throws(StoreError) -> String {
        let name = backupPath(version: version, at: now)
        guard try createEmpty(name) else {
            throw StoreError(.conflict, "the backup \(name) exists already; move it away")
        }
        return name
    }

    func backupPath(version: Int64, at now: Timestamp) -> String {
        "\(path).backup-\(version)-\(now.milliseconds)"
    }

    /// Refuses a file that nobody can write to, before SQLite reports whatever it meets first.
    ///
    /// Also for reading: a database with a write-ahead log is not read without a file beside it.
    func checkFileSystemIsWritable() throws(StoreError) {
        // The path outlives the call.
        guard unsafe access(path, W_OK) != 0, errno == EROFS else { return }
        throw StoreError(
            .readOnly,
            "\(path) lies on a file system that is mounted read-only; mount it for writing, or copy the database elsewhere"
        )
    }

    /// Bytes of a file; 0 when there is none.
    static func byteCount(_ path: String) -> Int64 {
        var status = stat()
        // The value outlives the call.
        guard unsafe stat(path, &status) == 0 else { return 0 }
        return Int64(status.st_size)
    }

    /// Syncs a file, and the folder that names it, to disk.
    func sync(_ path: String) throws(StoreError) {
        for name in [path, folder] {
            let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure("opening", name) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw Self.failure("syncing", name) }
        }
    }

    /// False when a file of that name exists.
    private func createEmpty(_ path: String) throws(StoreError) -> Bool {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            return true
        }
        guard errno == EEXIST else { throw Self.failure("creating", path) }
        return false
    }

    /// Refuses a file that is no database before SQLite touches it.
    func checkHeader() throws(StoreError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure("opening", path) }
        defer { close(descriptor) }
        var status = stat()
        // The value outlives the call.
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.failure("reading", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.incompatible, "\(path) is not a file; give the path of a database file")
        }
        guard status.st_size > 0 else { return }
        var header = [UInt8](repeating: 0, count: 16)
        // The buffer holds the 16 bytes that are asked for.
        let count = unsafe header.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count == 16, header == Array("SQLite format 3\0".utf8) else {
            throw StoreError(.corrupted, "\(path) is not a SQLite database, or its beginning is damaged")
        }
    }

    static func failure(_ action: String, _ path: String) -> StoreError {
        let code: StoreError.Code =
            switch errno {
            case EACCES, EPERM, EROFS: .readOnly
            case ENOSPC, EDQUOT: .full
            default: .inputOutput
            }
        return StoreError(code, "\(action) \(path) failed: \(lastError())")
    }

    private static func lastError() -> String {
        // strerror gives a text that ends in a zero, valid until the thread's next call.
        unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}
