#if PostgreSQL
public import Attribution
internal import Storage

/// The stored clicks and checks of one app, which can be read with or without running servers.
public enum PostgreSQLHistory {
    /// Opens the history of an app; the parameters are those of any ``RecordedHistory``.
    ///
    /// - Returns: the history.
    /// - Throws: if the database or the app does not exist, or the database cannot be read or is not up to date.
    public static func open(
        _ configuration: PostgreSQLConfiguration,
        of app: AppID,
        isTest: Bool,
        remaking: FingerprintReconstruction
    ) throws(StoreError) -> any TrafficHistory {
        try RecordedHistory(
            of: app,
            isTest: isTest,
            from: PostgreSQLReader(connection: try DatabaseOpening(configuration).openAccepted()),
            keeping: configuration.store.historySeconds,
            remaking: remaking
        ) { StoreError($0) }
    }
}
#endif
