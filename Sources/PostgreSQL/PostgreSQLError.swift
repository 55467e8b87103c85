#if PostgreSQL

/// An error of the server or of the connection to it.
///
/// It never contains parameters: it leaves out the server's detail, hint and context, which may repeat them.
public struct PostgreSQLError: Error, Equatable, Sendable {
    /// The kind of an error, by which a caller decides what to do.
    public enum Kind: Hashable, Sendable {
        /// A unique index rejected a row.
        case uniqueViolation
        /// Another constraint rejected a row.
        case constraintViolation
        /// The user lacks a right, or does not own a table.
        case missingRight
        /// A table, a partition or a schema is missing, or the user may not use the schema.
        case missingTable
        /// The transaction conflicts with another one; a second attempt can succeed.
        case serializationFailure
        /// The server ended the transaction to resolve a deadlock; a second attempt can succeed.
        case deadlock
        /// Another transaction kept a lock longer than `lock_timeout`.
        case lockTimeout
        /// The server does not accept writes: for example, it is a standby, or was the primary before the
        /// last failover.
        case readOnly
        case diskFull
        case outOfMemory
        case tooManyConnections
        /// The server is starting or stopping, or an operator ended the connection.
        case shuttingDown
        /// The connection was lost; a statement that was sent may have been executed.
        case connectionLost
        /// There is no connection: no statement was sent.
        case notConnected
        /// The server rejected user, password or database.
        case authentication
        /// The password could not be read, so the program did not connect to a server.
        case password
        /// An operator or a time limit of the server cancelled the statement.
        case cancelled
        /// The caller's deadline passed; the statement may still be executed.
        case deadline
        /// The transaction is committed on this server, but may be incomplete, or lost in a failover.
        ///
        /// Either the wait for the standby was cancelled, so a failover may lose the transaction, or a worker of Citus
        /// has not committed its part yet.
        case notReplicated
        /// An earlier statement of the same transaction failed, so the server did not execute this one.
        case aborted
        /// A stored value has another type than the reader expects.
        case unexpectedValue
        /// The server does not accept a setting of the connection.
        case settings
        /// A pooler lets several connections use one session of the server.
        case sharedSession
        /// An internal error of the server; Citus also reports the failure of another node as such an error.
        case internalError
        case other
    }

    /// Whether every attempt to connect fails in this way until an operator changes a setting.
    package var isRefusal: Bool {
        switch kind {
        case .authentication, .password, .settings, .sharedSession: true
        default: false
        }
    }

    public let kind: Kind
    /// The SQLSTATE (appendix A of PostgreSQL's manual); empty if the error did not come from the server.
    public let code: String
    /// The server's primary message, or a sentence of this module.
    public let message: String
    /// The constraint that rejected a row; nil for any other error.
    public let constraint: String?

    public init(_ kind: Kind, _ message: String) {
        (self.kind, code, self.message, constraint) = (kind, "", message, nil)
    }

    /// Creates the server's error with this SQLSTATE.
    init(code: String, message: String, constraint: String? = nil) {
        (self.code, self.message, self.constraint) = (code, message, constraint)
        // PgBouncer refuses every connection that has such a parameter; it gives other errors the same SQLSTATE.
        let isParameter = code == "08P01" && message.hasPrefix("unsupported startup parameter")
        kind = isParameter ? .settings : Self.kind(of: code, isConstraint: constraint != nil)
    }

    private static func kind(of code: String, isConstraint: Bool) -> Kind {
        switch code {
        case "01000": .notReplicated
        case "23505": .uniqueViolation
        // No partition takes a row.
        case "23514" where !isConstraint: .missingTable
        case "25006": .readOnly
        // The session lacks a statement that the connection has prepared.
        case "26000": .sharedSession
        case "40001": .serializationFailure
        case "40P01": .deadlock
        case "3F000", "42P01": .missingTable
        case "42501": .missingRight
        case "53100": .diskFull
        case "53200": .outOfMemory
        case "53300": .tooManyConnections
        case "55P03": .lockTimeout
        case "57014": .cancelled
        case "57P01", "57P02", "57P03", "57P05": .shuttingDown
        case "XX000": .internalError
        case _ where code.hasPrefix("08"): .connectionLost
        case _ where code.hasPrefix("23"): .constraintViolation
        case _ where code.hasPrefix("28"), "3D000": .authentication
        default: .other
        }
    }
}

#endif
