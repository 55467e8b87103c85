internal import Attribution
internal import SQLite
internal import Storage

/// Reads the rows of exports.
extension SQLiteReader: ExportRows {
    /// Returns the highest number of a row in any of the tables.
    ///
    /// One process writes at a time, and the numbers of each table grow. So a later row may have a number below the
    /// returned one. But its number is above the last number of its own table, and the next export continues after that
    /// number.
    func exportEnd() throws(SQLiteError) -> Int64 { try connection.integer(Self.lastNumber) }

    private static let lastNumber: SQL = """
        SELECT max(
            (SELECT ifnull(max(id), 0) FROM clicks), (SELECT ifnull(max(id), 0) FROM checks),
            (SELECT ifnull(max(number), 0) FROM erased_rows), (SELECT ifnull(max(number), 0) FROM events),
            (SELECT ifnull(max(number), 0) FROM apple_postbacks)
        )
        """

    func erasedRows(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(SQLiteError) -> [ErasedRow] {
        try connection.statement(Self.erasedRows)
            .all(ErasedRecord.self, numbers.lowerBound, numbers.upperBound, limit).map(\.row)
    }

    static let erasedRows: SQL = """
        SELECT \(ErasedRecord.columns) FROM erased_rows WHERE number >= ?1 AND number <= ?2
        ORDER BY number LIMIT ?3
        """

    func oldestRows() throws(SQLiteError) -> [Timestamp?] {
        try DeletionCursor.tables.map { (table) throws(SQLiteError) in
            let oldest: SQL =
                switch table {
                case .clicks: "SELECT min(id) FROM clicks"
                case .events: "SELECT min(number) FROM events"
                default: "SELECT min(id) FROM checks"
                }
            let number = try connection.statement(oldest).first { $0.optionalInteger(0) } ?? nil
            return number.map(RowIdentifier.time(of:))
        }
    }

    func exportedLinks(after number: Int64, atMost limit: Int) throws(SQLiteError) -> [StoredLink] {
        try connection.statement(Self.exportedLinks).all(number, limit, read: Self.storedLink)
    }

    static let exportedLinks: SQL = "\(selectLinks) WHERE links.number > ?1 ORDER BY links.number LIMIT ?2"

    func countedHour(of scope: Scope, from start: Timestamp) throws(SQLiteError) -> Timestamp? {
        try connection.statement(Self.countedHour).first(scope.number, start.milliseconds) { $0.time(0) }
    }

    static let countedHour: SQL = """
        SELECT period FROM counts
        WHERE scope = ?1 AND campaign = '' AND dimension = \(Dimension.total) AND span = \(Granularity.hour)
            AND period >= ?2
        ORDER BY period LIMIT 1
        """

    func countedCampaigns(of scope: Scope, in hour: Timestamp, after name: String, atMost limit: Int)
        throws(SQLiteError) -> [String]
    {
        try connection.statement(Self.campaignsOfHour).all(scope.number, hour.milliseconds, name, limit) {
            $0.text(0)
        }
    }

    /// The indexes are named, because SQLite would use the order of the primary key instead, and read all counts of
    /// the scope.
    static let campaignsOfHour: SQL = """
        SELECT campaign FROM counts INDEXED BY top_campaigns
        WHERE scope = ?1 AND span = \(Granularity.hour) AND period = ?2 AND metric = 'clicks'
            AND dimension = \(Dimension.total) AND campaign <> '' AND campaign > ?3
        UNION SELECT campaign FROM counts INDEXED BY top_links
        WHERE scope = ?1 AND span = \(Granularity.hour) AND period = ?2 AND metric = 'clicks'
            AND dimension = \(Dimension.link) AND campaign > ?3
        ORDER BY campaign LIMIT ?4
        """

    func counts(of scope: Scope, campaign: String, in hour: Timestamp) throws(SQLiteError) -> [StoredCount] {
        try connection.statement(Self.countsOfHour).all(scope.number, campaign, hour.milliseconds) {
            StoredCount(dimension: $0.integer(0), value: $0.text(1), metric: $0.text(2), count: $0.integer(3))
        }
    }

    /// The counts of an hour; the statement lists all dimensions, so that SQLite finds each by the primary key.
    static let countsOfHour: SQL = """
        SELECT dimension, value, metric, count FROM counts
        WHERE scope = ?1 AND campaign = ?2 AND span = \(Granularity.hour) AND period = ?3
            AND dimension IN (\(allDimensions))
        """
    private static let allDimensions: SQL =
        Dimension.allCases.dropFirst().reduce("\(Dimension.total)") { "\($0), \($1)" }
}
