internal import CSQLite
import Glibc

/// One connection to a database file.
///
/// It belongs to the thread that uses it first.
///
/// Safe to use, because the pointers are valid from `init` to `deinit`.
@safe public final class SQLiteConnection {
    public enum Access: Sendable {
        case readOnly
        case readWrite
        /// Reads without locks and without additional files; no process may change the file meanwhile.
        case immutable
    }

    let pointer: OpaquePointer
    let confinement = ThreadConfinement()
    /// Compiled statements by the address of their text, which is constant.
    private var statements: [UInt: Statement] = [:]
    /// The value of ``logPageCount``, which SQLite writes after each commit of this connection.
    private let logPages: UnsafeMutablePointer<Int32>

    /// Switches off SQLite's counting of memory, once in the process, before its first connection.
    private static let setUp: Void = afterlink_stop_counting_memory()

    /// Opens a file that exists.
    ///
    /// No component of the path may be a symbolic link. `busyMilliseconds` is the time to wait for locks of
    /// other connections.
    public init(path: String, access: Access, busyMilliseconds: Int32) throws(SQLiteError) {
        Self.setUp
        let flags =
            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
            | (access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY)
            | (access == .immutable ? SQLITE_OPEN_URI : 0)
        let name = access == .immutable ? Self.immutableURI(path) : path
        var opened: OpaquePointer?
        // The path is valid during the call; SQLite returns a connection even if the call fails.
        let status = unsafe sqlite3_open_v2(name, &opened, flags, nil)
        guard status == SQLITE_OK, let pointer = unsafe opened else {
            let error = unsafe SQLiteError(status, on: opened, context: "opening the database")
            // The failed connection is closed once and not used again; nil is allowed.
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.pointer = pointer
        unsafe logPages = .allocate(capacity: 1)
        unsafe logPages.initialize(to: 0)
        // The connection is open.
        unsafe sqlite3_busy_timeout(pointer, busyMilliseconds)
        if access == .readWrite {
            // `deinit` removes the hook before it frees `logPages`, because statements that outlive the connection may
            // still commit.
            unsafe afterlink_watch_wal(pointer, logPages)
        }
        // The connection is open.
        try check(unsafe afterlink_set_defensive(pointer), "making the connection defensive")
        // The connection is open.
        try check(unsafe afterlink_keep_plans(pointer), "keeping plans for all bound values")
    }

    /// Opens a private temporary database, in memory; SQLite moves it to an unlinked file when it grows.
    public static func temporary() throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: "", access: .readWrite, busyMilliseconds: 0)
    }

    deinit {
        statements = [:]
        // The connection was opened in `init`. Statements may outlive it and commit later; without the hook, their
        // commits do not write to the memory that is freed here.
        _ = unsafe sqlite3_wal_hook(pointer, nil, nil)
        unsafe sqlite3_close_v2(pointer)
        unsafe logPages.deallocate()
    }

    /// Returns the compiled form of `sql`, which the connection caches until it closes.
    public func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
        if let statement = statements[sql.address] { return statement }
        let statement = try prepare(sql)
        statements[sql.address] = statement
        return statement
    }

    /// Returns a new statement, which belongs to the caller.
    public func prepare(_ sql: SQL) throws(SQLiteError) -> Statement {
        // The bytes of a constant are valid until the process ends.
        unsafe try Statement(sql.bytes, on: pointer, confinement: confinement)
    }

    /// Returns the path as a URI (sqlite.org/uri.html), which states that the file does not change.
    private static func immutableURI(_ path: String) -> String {
        var uri = "file:"
        for character in path {
            switch character {
            case "%": uri += "%25"
            case "?": uri += "%3f"
            case "#": uri += "%23"
            default: uri.append(character)
            }
        }
        return uri + "?immutable=1"
    }

    /// Returns a new statement from a text that is composed at run time, for measurements and inspections.
    package func prepare(text: String) throws(SQLiteError) -> Statement {
        let result = unsafe Array(text.utf8).withUnsafeBufferPointer { bytes in
            Result { () throws(SQLiteError) in
                // The bytes are valid during the call.
                unsafe try Statement(bytes, on: pointer, confinement: confinement)
            }
        }
        return try result.get()
    }

    /// Runs the statements of a text, such as a migration; the text must contain no value from outside the program.
    public func execute(_ script: String) throws(SQLiteError) {
        confinement.check()
        // The text is valid during the call, which gets neither a callback nor a pointer for a message.
        try check(unsafe sqlite3_exec(pointer, script, nil, nil, nil), "running a script")
    }

    /// The number of rows that the last finished INSERT, UPDATE or DELETE changed.
    public var changeCount: Int64 {
        // The connection is open.
        unsafe sqlite3_changes64(pointer)
    }

    /// The number of rows that were inserted, changed or deleted since the connection was opened.
    public var totalChangeCount: Int64 {
        // The connection is open.
        unsafe sqlite3_total_changes64(pointer)
    }

    /// The number of steps that all open statements took in SQLite's virtual machine: a measure of work
    /// without a clock.
    package var stepCount: Int {
        var count = 0
        // The connection is open, and so are the statements that it lists; 0 does not reset their counts.
        var statement = unsafe sqlite3_next_stmt(pointer, nil)
        while let current = unsafe statement {
            count += Int(unsafe sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0))
            unsafe statement = unsafe sqlite3_next_stmt(pointer, current)
        }
        return count
    }

    /// The number of pages in the write-ahead log after this connection's last commit; 0 before the first one.
    public var logPageCount: Int {
        // SQLite writes the number only within calls on this connection, which belongs to this thread.
        Int(unsafe logPages.pointee)
    }

    /// Whether the connection cannot write: reading was requested, or the file permits only reading.
    public var isReadOnly: Bool {
        // The connection is open, and "main" is its main database.
        unsafe sqlite3_db_readonly(pointer, "main") == 1
    }

    /// Whether a transaction is open.
    ///
    /// An error may have ended a transaction (sqlite.org/lang_transaction.html, 3).
    public var isInTransaction: Bool {
        // The connection is open.
        unsafe sqlite3_get_autocommit(pointer) == 0
    }

    /// Releases the connection, so that another thread may use it.
    ///
    /// The caller ensures that both threads do not use it at the same time.
    public func releaseFromThread() { confinement.release() }

    /// Sets whether this connection, if it is the last one to close, copies the write-ahead log into the database.
    public func setCheckpointOnClose(_ isOn: Bool) throws(SQLiteError) {
        // The connection is open.
        try check(unsafe afterlink_set_checkpoint_on_close(pointer, isOn ? 1 : 0), "setting up the close")
    }

    /// The result of a checkpoint.
    public struct Checkpoint: Equatable, Sendable {
        /// The number of pages in the log.
        public let logPages: Int
        /// The number of these pages that are also in the database.
        public let copiedPages: Int
        /// Whether another connection held a lock that the checkpoint needed.
        ///
        /// A passive checkpoint that copies only some pages because of a reader is not blocked.
        public let isBlocked: Bool
    }

    public enum CheckpointMode: Sendable {
        /// Copies as many pages as possible without waiting for other connections.
        case passive
        /// Waits for writers and readers, copies all pages, and truncates the log.
        case truncate
    }

    /// Copies the write-ahead log into the database.
    ///
    /// A lock of another connection causes no error.
    ///
    /// - Throws: an error of the disk, after which the next checkpoint copies the whole log again.
    public func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
        confinement.check()
        var logPages: Int32 = 0
        var copiedPages: Int32 = 0
        let code = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        // The connection is open, and both numbers are valid during the call.
        let status = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, code, &logPages, &copiedPages)
        if ResultCode(status) != .busy {
            do throws(SQLiteError) {
                try check(status, "copying the log into the database")
            } catch {
                // The connection is open. If this fails too, the disk of the database is unusable.
                _ = unsafe afterlink_copy_log_again(pointer)
                throw error
            }
        }
        let isBlocked = status != SQLITE_OK
        return Checkpoint(logPages: Int(logPages), copiedPages: Int(copiedPages), isBlocked: isBlocked)
    }

    private func check(_ status: Int32, _ context: String) throws(SQLiteError) {
        guard status != SQLITE_OK else { return }
        throw unsafe SQLiteError(status, on: pointer, context: context)
    }
}

/// Traps when an object of one thread is used on another.
///
/// SQLite connections are opened without a mutex (sqlite.org/threadsafe.html, "multi-thread"), so two threads on one
/// connection would corrupt its memory.
final class ThreadConfinement {
    private var owner: pthread_t?

    /// Traps unless the current thread owns the object; the first thread that calls this becomes the owner.
    @inline(__always)
    func check() {
        let current = pthread_self()
        guard owner != current else { return }
        precondition(owner == nil, "a connection is used by the thread that used it first, and by no other")
        owner = current
    }

    /// Releases the object, so that another thread may become its owner.
    ///
    /// The caller ensures that both threads do not use it at the same time.
    func release() { owner = nil }
}

/// The SQLite library that this process uses.
public enum SQLiteLibrary {
    /// The version, such as `3.40.1`.
    public static var version: String {
        // SQLite returns a constant text.
        unsafe String(cString: sqlite3_libversion())
    }
}
