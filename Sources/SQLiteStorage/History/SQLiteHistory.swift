public import Attribution
internal import SQLite
internal import Storage

/// The stored clicks and checks of one app, which can be read with or without a running server.
public enum SQLiteHistory {
    /// Opens the history of an app.
    ///
    /// - Parameters:
    ///   - configuration: the database, to which all migrations must have been applied.
    ///   - app: the app of the clicks and checks.
    ///   - isTest: whether to read test traffic instead of live traffic.
    ///   - remaking: reconstructs fingerprints.
    /// - Returns: the history.
    /// - Throws: if the database or the app does not exist, or the database cannot be read.
    public static func open(
        _ configuration: SQLiteConfiguration,
        of app: AppID,
        isTest: Bool,
        remaking: FingerprintReconstruction
    ) throws(StoreError) -> any TrafficHistory {
        let snapshot = try DatabaseSnapshot(configuration)
        let path = snapshot.file.path
        return try RecordedHistory(
            of: app,
            isTest: isTest,
            from: snapshot.reader,
            keeping: configuration.store.historySeconds,
            remaking: remaking
        ) { StoreError($0.naming(path)) }
    }
}

/// Reads the bounds of an app's clicks and checks.
extension SQLiteReader {
    func historyBounds(of scope: Scope) throws(SQLiteError) -> HistoryBounds {
        func time(_ column: StaticString, _ table: StaticString, _ order: StaticString) throws(SQLiteError)
            -> Timestamp?
        {
            let sql: SQL = "SELECT \(column) FROM \(table) WHERE scope = ?1 ORDER BY \(order) LIMIT 1"
            return try connection.statement(sql).first(scope.number) { $0.time(0) }
        }
        var bounds = HistoryBounds(of: scope)
        bounds.lastClick = try connection.integer("SELECT max(id) FROM clicks")
        bounds.lastCheck = try connection.integer("SELECT max(id) FROM checks")
        bounds.firstCheckAt = try time("checked_at", "checks", "id")
        bounds.lastCheckAt = try time("checked_at", "checks", "id DESC")
        bounds.firstClickAt = try time("recorded_at", "clicks", "id")
        bounds.lastClickAt = try time("recorded_at", "clicks", "id DESC")
        bounds.learningBegan = try learningEpoch(of: scope)?.began
        bounds.hasDeleted = try value(of: .deletedUpTo) != nil
        return bounds
    }
}
