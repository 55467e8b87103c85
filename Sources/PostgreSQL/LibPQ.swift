#if PostgreSQL
internal import CLibPQ

/// A connection of libpq; none of its functions waits for the server.
///
/// Safe to use, because the pointer is valid from `init` to `deinit`.
@safe final class LibPQ {
    /// The result of ``poll()``: what the socket must be ready for before the next call, or how connecting
    /// ended.
    enum Poll {
        case reading
        case writing
        case open
        case failed
    }

    /// The server's answer to one statement, or to a synchronisation.
    enum Reply {
        case rows(ResultRows)
        case failed(PostgreSQLError)
        /// An earlier statement of the transaction has failed.
        case aborted
        /// The answer to a synchronisation, which ends a transaction.
        case sync
    }

    /// The server's last warning that may be about replication, and its last fatal error.
    private final class Notices {
        var warning: PostgreSQLError?
        var fatal: PostgreSQLError?
    }

    private let pointer: OpaquePointer
    private let notices = Notices()

    /// Starts to connect; nil if there is no memory.
    ///
    /// - Parameter words: the parameters of libpq; they contain no zero byte. `hostaddr` must be among them unless the
    ///   host is a Unix socket; otherwise libpq would wait while it looks up the name.
    init?(_ words: [(name: String, value: String)]) {
        let bytes = words.reduce(into: [UInt8]()) {
            $0 += Array($1.name.utf8) + [0] + Array($1.value.utf8) + [0]
        }
        // The bytes are valid during the call, which copies them.
        let started = unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe libpq_start(start, Int32(words.count))
        }
        guard let pointer = unsafe started else { return nil }
        unsafe self.pointer = pointer
        // The connection is valid. Verbose messages contain the SQLSTATE, which libpq reports in no other way while it
        // connects.
        unsafe PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        let context = unsafe Unmanaged.passUnretained(notices).toOpaque()
        // The notices live as long as the connection, and only the thread that calls this object touches them.
        unsafe PQsetNoticeReceiver(
            pointer,
            { context, result in
                guard let context = unsafe context, let result = unsafe result else { return }
                // The context is the object that was passed above, which is still alive.
                let notices = unsafe Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
                let error = unsafe LibPQ.error(result)
                switch unsafe LibPQ.field(libpq_field_severity, of: result) {
                case "WARNING" where error.kind == .notReplicated: notices.warning = error
                case "FATAL", "PANIC": notices.fatal = error
                default: break
                }
            },
            context
        )
    }

    deinit {
        // The connection belongs to this object, which does not use it again. The call sends a message of
        // five bytes if the socket takes it, and does not wait.
        unsafe PQfinish(pointer)
    }

    /// The number of the socket, which may change while ``poll()`` connects; -1 if there is none.
    var descriptor: Int32 {
        // The connection is valid.
        unsafe PQsocket(pointer)
    }

    /// The process number that the other end of the connection reported when it accepted the connection.
    ///
    /// Without a pooler in between, it is the number of the PostgreSQL process that serves this connection.
    var serverProcess: Int32 {
        // The connection is valid.
        unsafe PQbackendPID(pointer)
    }

    /// Whether the first step of connecting has failed already.
    var hasFailed: Bool {
        // The connection is valid.
        unsafe PQstatus(pointer) == CONNECTION_BAD
    }

    /// Continues to connect.
    ///
    /// Make the first call when the socket is ready for writing, and each later call when the socket is ready
    /// for what the previous call returned.
    func poll() -> Poll {
        // The connection is valid.
        switch unsafe PQconnectPoll(pointer) {
        case PGRES_POLLING_READING: .reading
        case PGRES_POLLING_WRITING: .writing
        case PGRES_POLLING_OK: .open
        default: .failed
        }
    }

    /// Enters pipeline mode after the connection is open; returns false if that fails.
    func enterPipelineMode() -> Bool {
        _ = takeWarning()
        // The connection is open.
        return unsafe PQsetnonblocking(pointer, 1) == 0 && PQenterPipelineMode(pointer) == 1
    }

    /// Queues the preparation of a statement.
    ///
    /// Like ``execute(_:_:)`` and ``sync()``, it returns false if the connection has failed.
    func prepare(_ name: String, _ text: String, _ types: [TypeID]) -> Bool {
        // The texts and the types are valid during the call, which copies them.
        unsafe PQsendPrepare(pointer, name, text, Int32(types.count), types.map(\.rawValue)) == 1
    }

    func execute(_ name: String, _ parameters: Parameters) -> Bool {
        // The fields are valid during the call, which copies them; each parameter has one.
        unsafe parameters.fields.withUnsafeBytes { fields in
            let start = unsafe fields.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe libpq_send(pointer, name, start, Int32(parameters.types.count)) == 1
        }
    }

    /// Ends the transaction of the statements since the last call, and sends what the socket takes.
    func sync() -> Bool {
        // The connection is open.
        unsafe PQpipelineSync(pointer) == 1
    }

    /// Sends what the socket takes; returns whether that is everything, or nil if the connection has failed.
    func flush() -> Bool? {
        // The connection is open.
        let status = unsafe PQflush(pointer)
        return status < 0 ? nil : status == 0
    }

    /// Reads what the socket has; returns false if the connection is lost.
    func consume() -> Bool {
        // The connection is open.
        unsafe PQconsumeInput(pointer) == 1
    }

    /// Whether ``next()`` must not be called, because it would wait for the server.
    var isBusy: Bool {
        // The connection is open.
        unsafe PQisBusy(pointer) == 1
    }

    /// Returns the next reply; nil between the replies of two statements.
    func next() -> Reply? {
        // The connection is open, and has a reply.
        guard let result = unsafe PQgetResult(pointer) else { return nil }
        switch unsafe PQresultStatus(result) {
        // `ResultRows` takes over the result.
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return .rows(unsafe ResultRows(result))
        case let status:
            // The result is valid until this function returns, and nothing keeps a reference to it.
            defer { unsafe PQclear(result) }
            switch status {
            case PGRES_PIPELINE_SYNC: return .sync
            case PGRES_PIPELINE_ABORTED: return .aborted
            default:
                let error = unsafe Self.error(result)
                // The result is valid.
                let severity = unsafe Self.field(libpq_field_severity, of: result)
                if severity == "FATAL" || severity == "PANIC" { notices.fatal = error }
                return .failed(error)
            }
        }
    }

    /// Returns the last warning with the SQLSTATE of a commit that is not replicated, and forgets the
    /// warning; nil if there is none.
    ///
    /// Other statements send warnings with this code too, such as ANALYZE for a table of another user.
    func takeWarning() -> PostgreSQLError? { notices.warning.take() }

    /// Why the connection failed.
    var failure: PostgreSQLError {
        if let fatal = notices.fatal { return fatal }
        // The connection is valid in these calls, and the text is valid until the next call.
        let text = unsafe String(cString: PQerrorMessage(pointer))
        let line = text.split(separator: "\n").first.map(String.init) ?? "libpq gives no reason."
        guard let found = text.firstMatch(of: /:  ([0-9A-Z]{5}): ([^\n]*)/) else {
            // Whether the server has asked for a password and there is none.
            let lacksPassword = unsafe PQconnectionNeedsPassword(pointer) == 1
            return PostgreSQLError(lacksPassword ? .authentication : .connectionLost, line)
        }
        return PostgreSQLError(code: String(found.1), message: String(found.2))
    }

    private static func error(_ result: OpaquePointer) -> PostgreSQLError {
        // The result is valid during the calls.
        unsafe PostgreSQLError(
            code: field(libpq_field_code, of: result) ?? "",
            message: field(libpq_field_message, of: result) ?? "libpq gives no reason.",
            constraint: field(libpq_field_constraint, of: result)
        )
    }

    private static func field(_ number: Int32, of result: OpaquePointer) -> String? {
        // The text belongs to the result, which is valid.
        unsafe PQresultErrorField(result, number).map { unsafe String(cString: $0) }
    }
}

/// The client library of the system.
public enum PostgreSQLLibrary {
    /// The library's version, such as 15.18.
    public static var version: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}

#endif
