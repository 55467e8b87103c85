#if PostgreSQL
public import Attribution
internal import PostgreSQL
internal import Storage

/// The stored clicks and checks of one app, which can be read with or without running servers.
///
/// Each page is read in a snapshot of its own.
public struct PostgreSQLHistory: TrafficHistory {
    public let span: (first: Timestamp, last: Timestamp)?
    public let isWhole: Bool
    public var gaps: HistoryGaps { history.gaps }

    private let reader: PostgreSQLReader
    private var history: RecordedHistory

    /// - Parameters:
    ///   - configuration: the database, to which all migrations must have been applied.
    ///   - app: the app of the clicks and checks.
    ///   - isTest: whether to read test traffic instead of live traffic.
    ///   - remaking: reconstructs fingerprints.
    /// - Throws: if the database or the app does not exist, or the database cannot be read.
    public init(
        _ configuration: PostgreSQLConfiguration,
        of app: AppID,
        isTest: Bool,
        remaking: FingerprintReconstruction
    ) throws(StoreError) {
        let reader = PostgreSQLReader(connection: try DatabaseOpening(configuration).openAccepted())
        let bounds = try StoreError.translating { () throws(PostgreSQLError) in
            try reader.number(of: app).map { (number) throws(PostgreSQLError) in
                try reader.historyBounds(of: Scope(app: number, isTest: isTest))
            }
        }
        guard let bounds else { throw StoreError(.notFound, "the app does not exist") }
        self.reader = reader
        span = bounds.span
        isWhole = bounds.isWhole(keeping: configuration.store.retentionSeconds * 1000)
        history = RecordedHistory(bounds, remaking)
    }

    public mutating func next() throws(StoreError) -> RecordedEvent? {
        let reader = reader
        try StoreError.translating { () throws(PostgreSQLError) in try history.read(from: reader) }
        return history.next()
    }
}
#endif
