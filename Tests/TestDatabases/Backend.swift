internal import Attribution
internal import Foundation

/// A kind of database on which tests of stores run.
package enum Backend: String, CaseIterable, Sendable {
    case sqlite = "sqlite"

    /// The kinds that this machine can run.
    package static let available = allCases

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

    /// Creates a place that has no database yet.
    package func makePlace() async throws -> any TestPlace {
        switch self {
        case .sqlite: try SQLitePlace()
        }
    }

    /// Whether retention closes and deletes each click and check as soon as it is due, and not whole days later.
    package var deletesEachRow: Bool {
        switch self {
        case .sqlite: true
        }
    }
}
