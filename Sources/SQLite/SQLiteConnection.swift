internal import CSQLite

/// One connection to a database file.
///
/// Belongs to the thread that uses it first.
///
/// Safe to use, because the pointers are live from `init` to `deinit`.
@safe public final class SQLiteConnection {
    public enum Access: Sendable {
        case readOnly
        case readWrite
        /// Reading a file that nobody changes meanwhile: without locks, and without files beside it.
        case immutable
    }

    let pointer: OpaquePointer
    let confinement = ThreadConfinement()
    /// Compiled statements by the address of their text: a constant has one address for ever.
    private var statements: [UInt: Statement] = [:]
    /// Written by SQLite after each commit of this connection, see ``logPageCount``.
    private let logPages: UnsafeMutablePointer<Int32>

    /// Once in the process, before its first connection.
    private static let setUp: Void = afterlink_stop_counting_memory()

    /// Opens a file that exists.
    ///
    /// No component of the path may be a symbolic link. `busyMilliseconds` is how long to wait for the locks of
    /// other connections.
    public init(path: String, access: Access, busyMilliseconds: Int32) throws(SQLiteError) {
        Self.setUp
        let flags =
            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
            | (access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY)
            | (access == .immutable ? SQLITE_OPEN_URI : 0)
        let name = access == .immutable ? Self.immutableURI(path) : path
        var opened: OpaquePointer?
        // The path is valid for the length of the call; SQLite stores a connection even where it fails.
        let status = unsafe sqlite3_open_v2(name, &opened, flags, nil)
        guard status == SQLITE_OK, let pointer = unsafe opened else {
            let error = unsafe SQLiteError(status, on: opened, context: "opening the database")
            // The failed connection is closed once and never used again; nil is allowed.
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.pointer = pointer
        unsafe logPages = .allocate(capacity: 1)
        unsafe logPages.initialize(to: 0)
        // The connection is open.
        unsafe sqlite3_busy_timeout(pointer, busyMilliseconds)
        if access == .readWrite {
            // The cell outlives the connection: it is freed in `deinit`, after the close. A connection that
            // waits for its last statement makes no more commits.
            unsafe afterlink_watch_wal(pointer, logPages)
        }
        // The connection is open.
        try check(unsafe afterlink_set_defensive(pointer), "making the connection defensive")
        // The connection is open.
        try check(unsafe afterlink_keep_plans(pointer), "keeping plans whatever is bound")
    }

    /// A database of this connection's own, in memory and beyond some pages in a file that nobody sees.
    public static func temporary() throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: "", access: .readWrite, busyMilliseconds: 0)
    }

    deinit {
        statements = [:]
        // The connection was opened in `init` and is used no more.
        unsafe sqlite3_close_v2(pointer)
        unsafe logPages.deallocate()
    }

    /// The compiled form of `sql`, kept for as long as the connection.
    public func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
        if let statement = statements[sql.address] { return statement }
        let statement = try prepare(sql)
        statements[sql.address] = statement
        return statement
    }

    /// A statement of the caller's own.
    public func prepare(_ sql: SQL) throws(SQLiteError) -> Statement {
        // The bytes of a constant are valid for ever.
        unsafe try Statement(sql.bytes, on: pointer, confinement: confinement)
    }

    /// The path as a URI (sqlite.org/uri.html), with a promise that the file does not change.
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

    /// A statement of the caller's own, from text that is made at run time: for programs that measure and inspect.
    package func prepare(text: String) throws(SQLiteError) -> Statement {
        try prepare(bytes: Array(text.utf8))
    }

    private func prepare(bytes: [UInt8]) throws(SQLiteError) -> Statement {
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(SQLiteError) in
                // The bytes are valid for the length of the call.
                unsafe try Statement(bytes, on: pointer, confinement: confinement)
            }
        }
        return try result.get()
    }

    /// Runs the statements of a text that was fixed at build time, such as a migration, without values.
    public func execute(_ script: String) throws(SQLiteError) {
        confinement.check()
        // The text is valid for the length of the call, and no callback and no message is asked for.
        try check(unsafe sqlite3_exec(pointer, script, nil, nil, nil), "running a script")
    }

    /// Rows that the last finished statement inserted, changed or deleted.
    public var changeCount: Int64 {
        // The connection is open.
        unsafe sqlite3_changes64(pointer)
    }

    /// Rows inserted, changed or deleted since the connection was opened.
    public var totalChangeCount: Int64 {
        // The connection is open.
        unsafe sqlite3_total_changes64(pointer)
    }

    /// Steps of SQLite's virtual machine that the statements that are still there have taken: what reading cost, without a
    /// clock.
    package var stepCount: Int {
        var count = 0
        // The connection is open, and so are its statements, which it lists; 0 leaves their counts as they are.
        var statement = unsafe sqlite3_next_stmt(pointer, nil)
        while let current = unsafe statement {
            count += Int(unsafe sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0))
            unsafe statement = unsafe sqlite3_next_stmt(pointer, current)
        }
        return count
    }

    /// Pages in the write-ahead log after this connection's last commit.
    public var logPageCount: Int {
        // SQLite writes the cell only within calls on this connection, which belongs to this thread.
        Int(unsafe logPages.pointee)
    }

    /// Whether the file could be opened for reading only, though more was asked for.
    public var isReadOnly: Bool {
        // The connection is open, and "main" is its first database.
        unsafe sqlite3_db_readonly(pointer, "main") == 1
    }

    /// Whether a transaction is open.
    ///
    /// An error may have ended it (sqlite.org/lang_transaction.html, 3).
    public var isInTransaction: Bool {
        // The connection is open.
        unsafe sqlite3_get_autocommit(pointer) == 0
    }

    /// Lets another thread take over.
    ///
    /// The caller sees to it that both do not use it at once.
    public func handOver() {
        confinement.release()
    }

    /// Whether the last connection that closes copies the write-ahead log into the database first.
    public func setCheckpointOnClose(_ isOn: Bool) throws(SQLiteError) {
        // The connection is open.
        try check(unsafe afterlink_set_checkpoint_on_close(pointer, isOn ? 1 : 0), "setting up the close")
    }

    /// What a checkpoint found and did.
    public struct Checkpoint: Equatable, Sendable {
        /// Pages in the log.
        public let logPages: Int
        /// Those of them that are in the database as well.
        public let copiedPages: Int
        /// Whether somebody was in the way.
        public let isBlocked: Bool
    }

    public enum CheckpointMode: Sendable {
        /// Copies what it can without waiting for anybody.
        case passive
        /// Waits for writers and readers, copies all, and cuts the log to nothing.
        case truncate
    }

    /// Copies the write-ahead log into the database.
    ///
    /// - Throws: what the disk did; the next checkpoint then copies the whole log anew.
    public func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
        confinement.check()
        var logPages: Int32 = 0
        var copiedPages: Int32 = 0
        let code = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        // The connection is open and both numbers outlive the call.
        let status = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, code, &logPages, &copiedPages)
        if ResultCode(status) != .busy {
            do throws(SQLiteError) {
                try check(status, "copying the log into the database")
            } catch {
                // The connection is open. Where this fails too, the database's disk fails as a whole.
                _ = unsafe afterlink_copy_log_anew(pointer)
                throw error
            }
        }
        return Checkpoint(
            logPages: Int(logPages),
            copiedPages: Int(copiedPages),
            isBlocked: status != SQLITE_OK
        )
    }

    private func check(_ status: Int32, _ context: String) throws(SQLiteError) {
        guard status != SQLITE_OK else { return }
        throw unsafe SQLiteError(status, on: pointer, context: context)
    }
}
