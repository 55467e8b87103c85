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

/// Who has a database open.
extension DatabaseFile {
    /// The process that has it open, one of them where there are several; nil when there is none.
    ///
    /// 0 stands for one whose number is not to be seen, as from within a container. Every connection to a database
    /// with a write-ahead log holds a shared lock from its first read until it closes (sqlite.org/wal.html,
    /// section 9).
    ///
    /// To be asked only while this process does not have the database open: closing a file gives up the locks that
    /// the process has on it.
    static func holder(of path: String) -> Int32? {
        // The path outlives the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var lock = flock(
            l_type: Int16(F_WRLCK),
            l_whence: Int16(SEEK_SET),
            l_start: sharedLocks.lowerBound,
            l_len: sharedLocks.count,
            l_pid: 0
        )
        // The kernel writes who is in the way into the local value.
        guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }

    /// The bytes of a database file that shared locks are on (sqlite.org/lockingv3.html, section 3).
    private static let sharedLocks = 0x4000_0002..<0x4000_0200
}

/// Bringing the write-ahead log to disk for certain.
extension DatabaseFile {
    private static let chunkByteCount = 1 << 20

    /// Writes the log's bytes over themselves, and syncs it.
    ///
    /// What an earlier sync failed to bring to disk can still be read, but counts as written: no later sync touches
    /// it, and a power cut would leave a hole, with all that was acknowledged later behind it. Written once more, it
    /// is synced like anything new.
    ///
    /// Only for who holds the database's write lock: nobody else changes the log meanwhile.
    func rewriteLog() throws(StoreError) {
        // The path outlives the call. SQLite has no locks on this file that closing it would give up.
        let descriptor = unsafe open(logPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return }
        guard descriptor >= 0 else { throw Self.failure("opening", logPath) }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)
        var position = 0
        while true {
            // The buffer holds as many bytes as are asked for.
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, $0.count, position)
            }
            guard count >= 0 else { throw Self.failure("reading", logPath) }
            if count == 0 { break }
            // Of the buffer, what was read.
            let written = unsafe chunk.withUnsafeBytes {
                unsafe pwrite(descriptor, $0.baseAddress, count, position)
            }
            // Less than asked for is read anew; nothing at all would be so for ever.
            guard written > 0 else { throw Self.failure("writing", logPath) }
            position += written
        }
        if position > 0, fsync(descriptor) != 0 { throw Self.failure("syncing", logPath) }
    }
}

/// What copying databases asks of files.
extension DatabaseFile {
    static func exists(_ path: String) -> Bool {
        // The path outlives the call.
        unsafe access(path, F_OK) == 0
    }

    /// The path without symbolic links.
    static func resolved(_ path: String) throws(StoreError) -> String {
        // The result is allocated by the call and freed below; nil asks for that.
        guard let resolved = unsafe realpath(path, nil) else { throw failure("finding", path) }
        defer { unsafe free(resolved) }
        // realpath gives a text that ends in a zero.
        return unsafe String(cString: resolved)
    }

    /// Whether both names lead to one file.
    static func isSameFile(_ path: String, _ other: String) -> Bool {
        guard let first = FileIdentity(path), let second = FileIdentity(other) else { return false }
        return first == second
    }

    /// Refuses folders, devices, pipes and links, before anything is opened, deleted or renamed over.
    static func refuseUnlessRegular(_ path: String) throws(StoreError) {
        var status = stat()
        // The value outlives the call.
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw StoreError(.conflict, "\(path) is there and is not a file")
    }

    /// Whether a file is a database that Afterlink has made (sqlite.org/fileformat2.html, section 1.3).
    static func isOurs(_ path: String) -> Bool {
        // The path outlives the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: 72)
        // The buffer holds the bytes that are asked for.
        let count = unsafe header.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count == header.count, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            return false
        }
        return header[68...].reduce(0) { $0 << 8 | Int64($1) } == DatabaseOpening.applicationID
    }

    /// Bytes that may still be written to the disk that a folder is on; nil where it does not say.
    static func freeByteCount(inFolder folder: String) -> Int64? {
        var status = statvfs()
        // The value outlives the call.
        guard unsafe statvfs(folder, &status) == 0 else { return nil }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return free.overflow ? .max : Int64(clamping: free.partialValue)
    }

    /// Names one file twice; false when the second name is taken.
    static func link(_ path: String, as name: String) throws(StoreError) -> Bool {
        // Both paths outlive the call.
        if unsafe Glibc.link(path, name) == 0 { return true }
        guard errno == EEXIST else { throw failure("naming", name) }
        return false
    }

    /// Renames in one step, over whatever has the name.
    static func rename(_ path: String, to name: String) throws(StoreError) {
        // Both paths outlive the call.
        guard unsafe Glibc.rename(path, name) == 0 else { throw failure("naming", name) }
    }

    /// Deletes a file, if it is there.
    static func remove(_ path: String) throws(StoreError) {
        // The path outlives the call.
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("deleting", path) }
    }
}

/// Which file a path led to: what is deleted, moved away or replaced while it is open goes on taking writes, and
/// nobody will ever read them.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// Nil when there is none.
    init?(_ path: String) {
        var status = stat()
        // The path and the value outlive the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        (device, node) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Of a name itself, should it be that of a symbolic link.
    init?(link name: String) {
        var status = stat()
        // The name and the value outlive the call.
        guard unsafe lstat(name, &status) == 0 else { return nil }
        (device, node) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Of an open file.
    init?(_ descriptor: Int32) {
        var status = stat()
        // The value outlives the call.
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        (device, node) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
}

/// The files of an open database, to be seen again before each transaction.
struct OpenFiles: Sendable {
    private let path: String
    private let database: FileIdentity?
    private let log: FileIdentity?

    /// Of the database at `path`, which is open and has a write-ahead log.
    init(path: String) {
        self.path = path
        database = FileIdentity(path)
        log = FileIdentity(path + "-wal")
    }

    /// - Throws: when another file, or none, is where they were.
    func check() throws(StoreError) {
        for (name, identity) in [(path, database), (path + "-wal", log)]
        where identity != nil && FileIdentity(name) != identity {
            throw StoreError(
                .inputOutput,
                "\(name) was deleted, moved or replaced while it was open. Stop the service, put the file back or"
                    + " restore a backup, and start the service again."
            )
        }
    }
}
