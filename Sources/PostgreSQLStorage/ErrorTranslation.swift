#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

extension StoreError {
    /// Runs `body`, and translates its errors.
    static func translating<Result>(_ body: () throws(PostgreSQLError) -> Result) throws(StoreError) -> Result
    {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw StoreError(error)
        }
    }

    /// Creates the domain's error for an error of PostgreSQL or of the connection.
    init(_ error: PostgreSQLError) {
        let (code, advice) = Self.meaning(of: error.kind)
        // The caller adds a full stop, so remove the one with which this program's messages end.
        let message = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
        let state = error.code.isEmpty ? "" : " (SQLSTATE \(error.code))"
        self.init(code, error.kind == .deadline ? advice : "\(advice). \(message)\(state)")
    }

    private static func meaning(of kind: PostgreSQLError.Kind) -> (code: Code, advice: String) {
        switch kind {
        case .uniqueViolation, .constraintViolation: (.defect, "the database rejected a row")
        case .missingRight:
            (
                .incompatible,
                "the user of the database lacks a right; make it the owner of the schema and of all its tables"
            )
        case .missingTable:
            (
                .incompatible,
                "a table or a partition is missing, or the user may not use its schema; `afterlink doctor` names"
                    + " missing partitions, which the servers make again"
            )
        case .serializationFailure, .deadlock, .lockTimeout:
            (.locked, "another transaction has locked the rows; it ends within seconds")
        case .readOnly:
            (.readOnly, "the database server is a standby, or accepts no writes; name the primary")
        case .diskFull: (.full, "the disk of the database server is full; make room")
        case .outOfMemory: (.overloaded, "the database server has no memory left")
        case .tooManyConnections:
            (.overloaded, "the database server accepts no more connections; raise its max_connections")
        case .shuttingDown, .connectionLost, .notConnected, .aborted:
            (
                .unreachable,
                "the database server cannot be reached; make sure that it runs and that its address is right"
            )
        case .authentication:
            (.unreachable, "the database server rejects the user, the password or the database's name")
        case .password: (.unreachable, "the password of the database cannot be read")
        case .cancelled: (.timedOut, "an operator or a time limit cancelled a statement")
        case .deadline: (.timedOut, "the database did not answer in time")
        case .notReplicated:
            (
                .inputOutput,
                "the database did not wait for its standby or for a worker of Citus, so the commit is uncertain"
            )
        case .settings:
            (
                .incompatible,
                "the database server, or a pooler before it, does not accept a setting of the connection; in PgBouncer,"
                    + " set ignore_startup_parameters = options"
            )
        case .sharedSession:
            (
                .incompatible,
                "a pooler before the database server gives one session to several connections; in PgBouncer, set"
                    + " pool_mode = session"
            )
        case .internalError: (.inputOutput, "the database server, or a node of Citus, failed")
        case .unexpectedValue:
            (.corrupted, "the database has a value that this program never stores; run `afterlink verify`")
        case .other: (.defect, "a statement failed")
        }
    }
}

extension EngineFailure {
    /// The failure of a statement before the request to commit.
    init(_ error: PostgreSQLError) {
        let hasLostConnection = error.endsConnection
        let mayRepeat =
            switch error.kind {
            case .uniqueViolation, .serializationFailure, .deadlock, .lockTimeout: true
            default: hasLostConnection
            }
        // PostgreSQL has rolled the transaction back, or will do so when the connection ends.
        self.init(StoreError(error), endsBatch: true, endsConnection: hasLostConnection, mayRepeat: mayRepeat)
    }
}

extension PostgreSQLError {
    /// Whether the connection must not be used any more.
    ///
    /// It is lost, its next answer may belong to an earlier statement, its server accepts no writes, or the
    /// server did not wait for a standby or for a worker of Citus.
    var endsConnection: Bool {
        switch kind {
        case .connectionLost, .notConnected, .shuttingDown, .deadline, .readOnly, .notReplicated: true
        default: false
        }
    }
}

#endif
