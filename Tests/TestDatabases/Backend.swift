package import Attribution
internal import Foundation
internal import Support

/// A kind of database on which tests of stores run.
package enum Backend: String, CaseIterable, Sendable {
    case sqlite = "sqlite"
    #if PostgreSQL
    case postgreSQL = "postgresql"
    /// The cluster that `AFTERLINK_TEST_CITUS` names.
    case citus = "citus"
    #endif

    /// The kinds that this machine can run.
    package static let available = allCases.filter(\.isInstalled)

    /// Whether this machine can run the kind; if not, a line of the output says what is missing.
    private var isInstalled: Bool {
        switch self {
        case .sqlite: return true
        #if PostgreSQL
        case .postgreSQL:
            let missing = PostgreSQLPlace.start()
            if let missing { print("The tests do not run over PostgreSQL: \(missing).") }
            return missing == nil
        case .citus: return CitusCluster.address != nil
        #endif
        }
    }

    /// The kind that the environment variable `AFTERLINK_TEST_BACKEND` names; SQLite without the variable.
    ///
    /// - Throws: if this build or this machine does not have the kind.
    package static func chosen() throws -> Backend {
        guard let name = ProcessInfo.processInfo.environment["AFTERLINK_TEST_BACKEND"] else { return .sqlite }
        guard let backend = available.first(where: { $0.rawValue == name }) else {
            throw StoreError(.notFound, "AFTERLINK_TEST_BACKEND: there is no database of the kind \(name)")
        }
        return backend
    }

    /// Creates an empty database, for a test whose clock starts at a time.
    ///
    /// It waits while too many other tests have one.
    package func makePlace(at start: Timestamp) async throws -> any TestPlace {
        switch self {
        case .sqlite: try await SQLitePlace(permit: TestPermit.take())
        #if PostgreSQL
        case .postgreSQL, .citus: try await PostgreSQLPlace.make(self, at: start)
        #endif
        }
    }

    /// Whether retention closes and deletes each click and check as soon as it is due.
    ///
    /// A database with partitions drops whole days instead.
    package var deletesEachRow: Bool {
        switch self {
        case .sqlite: true
        #if PostgreSQL
        case .postgreSQL, .citus: false
        #endif
        }
    }
}
