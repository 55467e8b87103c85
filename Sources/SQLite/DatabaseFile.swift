import Glibc

/// A database's file and the files beside it, in the file system.
///
/// Its errors are ``SQLiteError/refused(_:_:)``, whose message is a sentence for the operator.
public struct DatabaseFile: Sendable {
    /// The path, without symbolic links in its folders.
    public let path: String
    public let folder: String

    /// The path of the write-ahead log.
    public var logPath: String { path + "-wal" }

    /// - Throws: `missing` if the path ends with a slash, or its folder cannot be reached.
    public init(path: String) throws(SQLiteError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        guard !name.isEmpty else { throw .refused(.missing, "\(path) names a folder, not a database file") }
        guard let resolved = Self.withoutLinks(folder) else {
            let cause = "the folder \(folder) cannot be reached: \(Self.lastError())"
            throw .refused(.missing, "\(cause); create it")
        }
        self.folder = resolved
        self.path = resolved == "/" ? "/" + name : resolved + "/" + name
    }

    /// Runs `body` while no other caller of this function, in any process, opens a database in this folder.
    ///
    /// Without this lock, a process could open a database that another one is still creating. SQLite itself
    /// does not wait while another connection switches to a write-ahead log.
    public func withExclusiveOpening<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        // The path outlives the call.
        let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // Run without a lock if the folder cannot be read, or if its file system has no locks.
        guard descriptor >= 0 else { return try body() }
        // Releases the lock as well.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }

    /// Creates an empty file that only its owner may read and write; checks the header of a file that exists.
    ///
    /// SQLite gives the files beside it the same mode. Accepts a file that begins with zeros and has a rollback
    /// journal: a power cut ended its creation, and SQLite's first read rolls it back to an empty file.
    public func createIfMissing() throws(SQLiteError) {
        if try !createEmpty(path) { try requireHeader(mayBeZero: Self.byteCount(path + "-journal") > 0) }
    }

    /// Creates an empty file for a copy of the database before a migration, and returns its path.
    ///
    /// It replaces the incomplete copy of a process that was killed.
    public func createBackupDraft() throws(SQLiteError) -> String {
        let draft = path + ".backup-partial"
        try Self.requireRegular(draft)
        try Self.remove(draft)
        guard try createEmpty(draft) else {
            throw .refused(.busy, "another process is writing \(draft) at this moment; wait for it")
        }
        return draft
    }

    /// Syncs a whole copy, and gives it the name that ``backupPath(version:at:)`` returns.
    public func publishBackup(_ draft: String, as name: String) throws(SQLiteError) {
        try sync(draft)
        guard !Self.exists(name) else {
            throw .refused(.constraint, "the backup \(name) exists already; move it away")
        }
        try Self.rename(draft, to: name)
        try sync(name)
    }

    /// Returns the path of the copy before a migration.
    ///
    /// The name contains the version of the schema before the migration and the time, in milliseconds since 1970.
    public func backupPath(version: Int64, at milliseconds: Int64) -> String {
        "\(path).backup-\(version)-\(milliseconds)"
    }

    /// Refuses a file on a read-only file system, because SQLite's own error would not name the cause.
    ///
    /// Reading fails too: SQLite reads a database with a write-ahead log only if it can create a file beside it.
    public func requireWritableFileSystem() throws(SQLiteError) {
        // The path outlives the call.
        guard unsafe access(path, W_OK) != 0, errno == EROFS else { return }
        throw .refused(
            .readOnly,
            "\(path) lies on a file system that is mounted read-only; mount it for writing, or copy the database elsewhere"
        )
    }

    /// Refuses a file that this process may not write to.
    ///
    /// Call it before SQLite opens the file: SQLite would create the files beside it with the same mode, and leave them.
    public func requireWritable() throws(SQLiteError) {
        // The path outlives the call.
        guard unsafe access(path, W_OK) != 0, [EACCES, EPERM].contains(errno) else { return }
        throw unwritable
    }

    /// The error for a file that this process may only read.
    public var unwritable: SQLiteError {
        .refused(.readOnly, "\(path) cannot be written to; check its mode and its owner")
    }

    /// Lets the owner write to the files beside the database, if the owner runs this process.
    ///
    /// SQLite creates them with the database's mode. If a command reads a read-only database, SQLite creates these
    /// files read-only, and they stay so when the database becomes writable again.
    public func makeCompanionsWritable() {
        for name in [logPath, path + "-shm"] {
            guard let status = Self.status(of: name, followsLink: false), status.st_uid == geteuid(),
                status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o600 != 0o600
            else { continue }
            // If this fails, SQLite's first write fails, too. The path outlives the call.
            _ = unsafe chmod(name, status.st_mode & 0o7777 | 0o600)
        }
    }

    /// Syncs a file, and the database's folder, to disk.
    public func sync(_ path: String) throws(SQLiteError) {
        for name in [path, folder] {
            let isSynced: Void? = try Self.withFile(name, O_RDONLY) { descriptor throws(SQLiteError) in
                guard fsync(descriptor) == 0 else { throw Self.failure("syncing", name) }
            }
            guard isSynced != nil else { throw Self.failure("opening", name) }
        }
    }

    /// Refuses a file that is neither empty nor a database; call this before SQLite opens the file.
    ///
    /// - Parameter mayBeZero: whether a file that begins with zeros is accepted, too.
    /// - Throws: `mismatch` if the path is no regular file, `corrupt` if the file begins otherwise.
    public func requireHeader(mayBeZero: Bool = false) throws(SQLiteError) {
        let isRead: Void? = try Self.withFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) {
            descriptor throws(SQLiteError) in
            guard let status = Self.status(of: descriptor) else { throw Self.failure("reading", path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .refused(.mismatch, "\(path) is not a file; give the path of a database file")
            }
            let head = Self.first(16, of: descriptor)
            let isZero = head.allSatisfy { $0 == 0 }
            guard status.st_size == 0 || head == Self.magic || (mayBeZero && isZero) else {
                throw .refused(.corrupt, "\(path) is not a SQLite database, or its beginning is damaged")
            }
        }
        guard isRead != nil else { throw Self.failure("opening", path) }
    }

    /// Creates an empty file; returns false if a file of that name exists.
    private func createEmpty(_ path: String) throws(SQLiteError) -> Bool {
        // The path outlives the call.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor < 0 else {
            close(descriptor)
            return true
        }
        guard errno == EEXIST else { throw Self.failure("creating", path) }
        return false
    }
}

/// Finds other processes that have a database open.
extension DatabaseFile {
    /// Returns the id of a process that has the database open; nil for none, or for an unreadable file.
    ///
    /// The id is 0 if this process cannot see the other one, as from within a container. Every connection to a database
    /// with a write-ahead log holds a shared lock from its first read until it closes (sqlite.org/wal.html, section 9).
    ///
    /// Call this only while this process does not have the database open: closing a file releases the locks that the
    /// process has on it.
    public static func holder(of path: String) -> Int32? {
        let holder = try? withFile(path, O_RDONLY | O_NONBLOCK) { descriptor -> Int32? in
            var lock = flock(
                l_type: Int16(F_WRLCK),
                l_whence: Int16(SEEK_SET),
                l_start: sharedLocks.lowerBound,
                l_len: sharedLocks.count,
                l_pid: 0
            )
            // The kernel writes the conflicting lock into the local value.
            guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else {
                return nil
            }
            return lock.l_pid
        }
        return holder ?? nil
    }

    /// The byte positions in a database file that shared locks cover (sqlite.org/lockingv3.html, section 3).
    private static let sharedLocks = 0x4000_0002..<0x4000_0200
}

/// Brings the write-ahead log to disk after a sync that failed.
extension DatabaseFile {
    private static let chunkByteCount = 1 << 20

    /// Writes the log's bytes over themselves, and syncs the log.
    ///
    /// Bytes that an earlier sync failed to bring to disk can still be read, but the kernel regards them as
    /// written. No later sync writes them, so a power cut would leave a gap before all later commits. After
    /// they are written once more, a sync brings them to disk like new bytes.
    ///
    /// The caller holds the database's write lock, so that the log does not change meanwhile.
    public func rewriteLog() throws(SQLiteError) {
        // SQLite holds no locks on this file, so closing it releases none.
        let isWritten: Void? = try Self.withFile(logPath, O_RDWR | O_NOFOLLOW) {
            descriptor throws(SQLiteError) in
            var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)
            var position = 0
            while true {
                // The buffer has room for all bytes that the call reads.
                let count = unsafe chunk.withUnsafeMutableBytes {
                    unsafe pread(descriptor, $0.baseAddress, $0.count, position)
                }
                guard count >= 0 else { throw Self.failure("reading", logPath) }
                if count == 0 { break }
                // The buffer contains the `count` bytes that were read.
                let written = unsafe chunk.withUnsafeBytes {
                    unsafe pwrite(descriptor, $0.baseAddress, count, position)
                }
                // The loop reads unwritten bytes again; without progress it would never end.
                guard written > 0 else { throw Self.failure("writing", logPath) }
                position += written
            }
            if position > 0, fsync(descriptor) != 0 { throw Self.failure("syncing", logPath) }
        }
        guard isWritten != nil || errno == ENOENT else { throw Self.failure("opening", logPath) }
    }
}

/// Queries and changes of names in the file system.
extension DatabaseFile {
    public static func exists(_ path: String) -> Bool {
        // The path outlives the call.
        unsafe access(path, F_OK) == 0
    }

    /// Returns the number of bytes of a file; 0 if there is none.
    public static func byteCount(_ path: String) -> Int64 { Int64(status(of: path)?.st_size ?? 0) }

    /// Returns the path without symbolic links.
    public static func resolved(_ path: String) throws(SQLiteError) -> String {
        guard let resolved = withoutLinks(path) else { throw failure("finding", path) }
        return resolved
    }

    private static func withoutLinks(_ path: String) -> String? {
        // The call allocates the result, which is freed below.
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        // The result ends with a zero.
        return unsafe String(cString: resolved)
    }

    /// Returns whether both paths lead to one file.
    public static func isSameFile(_ path: String, _ other: String) -> Bool {
        guard let first = FileIdentity(path), let second = FileIdentity(other) else { return false }
        return first == second
    }

    /// Throws if the path is a folder, a device, a pipe or a link; call this before a file of that name is
    /// opened, deleted or replaced.
    public static func requireRegular(_ path: String) throws(SQLiteError) {
        guard let status = status(of: path, followsLink: false), status.st_mode & S_IFMT != S_IFREG else {
            return
        }
        throw .refused(.constraint, "\(path) exists, but is not a file")
    }

    /// Returns whether a file is a database with this application id (sqlite.org/fileformat2.html, section 1.3).
    public static func isDatabase(_ path: String, ofApplication id: Int64) -> Bool {
        let header = try? withFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { first(72, of: $0) }
        guard let header, header.count == 72, header.starts(with: magic) else { return false }
        return header[68...].reduce(0) { $0 << 8 | Int64($1) } == id
    }

    /// Returns the number of bytes that the folder's disk can still take; nil if the system does not report it.
    public static func freeByteCount(inFolder folder: String) -> Int64? {
        var status = statvfs()
        // The value outlives the call.
        guard unsafe statvfs(folder, &status) == 0 else { return nil }
        let free = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return free.overflow ? .max : Int64(clamping: free.partialValue)
    }

    /// Gives a file a second name; returns false if a file of that name exists.
    public static func link(_ path: String, as name: String) throws(SQLiteError) -> Bool {
        // Both paths outlive the call.
        if unsafe Glibc.link(path, name) == 0 { return true }
        guard errno == EEXIST else { throw failure("naming", name) }
        return false
    }

    /// Renames a file in one step; if another file has the new name, replaces it.
    static func rename(_ path: String, to name: String) throws(SQLiteError) {
        // Both paths outlive the call.
        guard unsafe Glibc.rename(path, name) == 0 else { throw failure("naming", name) }
    }

    /// Deletes a file if it exists.
    public static func remove(_ path: String) throws(SQLiteError) {
        // The path outlives the call.
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("deleting", path) }
    }
}

/// System calls that this source file uses.
extension DatabaseFile {
    /// The first bytes of every database (sqlite.org/fileformat2.html, section 1.3).
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Opens a file, runs `body`, and closes the file; if it cannot be opened, sets `errno` and returns nil.
    private static func withFile<Result>(
        _ path: String,
        _ flags: Int32,
        _ body: (Int32) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        // The path outlives the call.
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    /// Returns the first bytes of an open file, or all if it has fewer.
    private static func first(_ count: Int, of descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // The buffer has room for all bytes that the call reads.
        let read = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        return Array(bytes.prefix(max(read, 0)))
    }

    fileprivate static func status(of path: String, followsLink: Bool = true) -> stat? {
        var status = stat()
        // The path and the value outlive the call.
        let result = unsafe followsLink ? stat(path, &status) : lstat(path, &status)
        return result == 0 ? status : nil
    }

    fileprivate static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        // The value outlives the call.
        return unsafe fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Creates the error for a system call that failed, from `errno`.
    static func failure(_ action: String, _ path: String) -> SQLiteError {
        let code: ResultCode =
            switch errno {
            case EACCES, EPERM, EROFS: .readOnly
            case ENOSPC, EDQUOT: .full
            default: .inputOutput
            }
        return .refused(code, "\(action) \(path) failed: \(lastError())")
    }

    private static func lastError() -> String {
        // strerror returns a text that ends with a zero, valid until the thread's next call.
        unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
}

/// The device and inode number of the file that a name leads to.
///
/// They reveal that an open file was deleted, moved or replaced. Such a file still takes writes, but no other
/// process will read them.
struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let node: UInt64

    private init?(_ status: stat?) {
        guard let status else { return nil }
        (device, node) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// The identity of the file that a path leads to; nil if there is no file.
    init?(_ path: String) { self.init(DatabaseFile.status(of: path)) }

    /// The identity of a name itself, even if it is a symbolic link; nil if the name does not exist.
    init?(link name: String) { self.init(DatabaseFile.status(of: name, followsLink: false)) }

    /// The identity of an open file; nil if the system cannot report it.
    init?(_ descriptor: Int32) { self.init(DatabaseFile.status(of: descriptor)) }
}

/// The identities of an open database's file and write-ahead log, to compare before each transaction.
public struct OpenFiles: Sendable {
    private let files: [(path: String, identity: FileIdentity?)]

    /// - Parameter path: the path of an open database with a write-ahead log.
    public init(path: String) { files = [path, path + "-wal"].map { ($0, FileIdentity($0)) } }

    /// - Throws: if one of the files was deleted, moved or replaced.
    public func verify() throws(SQLiteError) {
        for (path, identity) in files where identity != nil && FileIdentity(path) != identity {
            throw .refused(
                .inputOutput,
                "\(path) was deleted, moved or replaced while it was open. Stop the service, put the file back or"
                    + " restore a backup, and start the service again."
            )
        }
    }
}
