#if PostgreSQL
internal import CLibPQ
internal import Foundation

extension PostgreSQLCluster {
    /// Executes SQL as ``user`` on a connection of its own, and returns the rows of all statements.
    ///
    /// Each row is a line, with `|` between its columns. The call blocks until the server has answered.
    @discardableResult
    public func execute(_ sql: String, in database: String = "postgres") throws -> String {
        try Self.execute(sql, on: words(for: database))
    }

    /// The words with which libpq connects to a database as ``user``.
    func words(for database: String) -> String {
        "host='\(folder.path)' port=\(port) user=\(Self.user) dbname=\(database)"
    }

    /// Executes SQL on a connection with the given words of libpq, as ``execute(_:in:)`` does.
    @discardableResult
    static func execute(_ sql: String, on words: String, settings: String = "") throws -> String {
        try KeptConnection(words, settings: settings).execute(sql)
    }
}

/// A connection to a database for statements of tests, one after another.
///
/// It is safe to use: it owns the connection, which ends with it.
@safe final class KeptConnection: @unchecked Sendable {
    // Sendable: libpq allows the use of a connection on any thread, and ``PostgreSQLTestDatabase`` uses it on
    // one thread at a time.
    private let connection: OpaquePointer?

    init(_ words: String, settings: String = "") {
        // libpq copies the text. The connection is nil only if there is no memory, which libpq's functions accept.
        unsafe connection = PQconnectdb(words + " options='-c client_min_messages=error\(settings)'")
    }

    deinit { unsafe PQfinish(connection) }

    /// Whether the connection has no transaction and waits for a statement.
    var isIdle: Bool { unsafe PQtransactionStatus(connection) == PQTRANS_IDLE }

    func execute(_ sql: String) throws -> String {
        guard unsafe PQstatus(connection) == CONNECTION_OK, unsafe PQsendQuery(connection, sql) == 1 else {
            throw failure(of: sql)
        }
        var lines: [String] = []
        var failure: ChildProcess.Failure?
        // Each result is valid until it is cleared, and all its numbers are within the counts that it states.
        while let result = unsafe PQgetResult(connection) {
            defer { unsafe PQclear(result) }
            let status = unsafe PQresultStatus(result)
            if status != PGRES_TUPLES_OK, status != PGRES_COMMAND_OK { failure = self.failure(of: sql) }
            for row in 0..<(unsafe PQntuples(result)) {
                let values = (0..<(unsafe PQnfields(result))).map { column in
                    unsafe String(cString: PQgetvalue(result, row, column))
                }
                lines.append(values.joined(separator: "|"))
            }
        }
        if let failure { throw failure }
        return lines.joined(separator: "\n")
    }

    private func failure(of sql: String) -> ChildProcess.Failure {
        // The message is valid until the connection's next call.
        let message = unsafe String(cString: PQerrorMessage(connection))
        return ChildProcess.Failure(description: "\(sql.prefix(1000)): \(message)")
    }
}
#endif
