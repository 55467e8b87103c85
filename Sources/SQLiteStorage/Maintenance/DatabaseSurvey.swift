public import Attribution
internal import SQLite
public import Storage

/// What an operator wants to know of a database that he does not mean to change.
public struct DatabaseSurvey: Sendable {
    /// Without symbolic links in its folders.
    public let path: String
    /// A process that has the database open; 0 where its number is not to be seen, nil where there is none.
    public let holder: Int32?
    public let content: DatabaseSummary
    public let directory: Directory
    public let writeAheadLogBytes: Int64
    /// Bytes that the disk still takes; nil where it does not say.
    public let freeBytes: Int64?
    /// Clicks, robots' included, recorded in the last 24 hours, to the hour.
    public let clicksOfLastDay: Int64
    /// The beginning of the first day on which anything was counted.
    public let firstDay: Timestamp?

    /// Looks at the database beside a server or alone.
    ///
    /// - Throws: when there is no database, one of another program, a newer or a damaged one.
    public init(_ configuration: SQLiteConfiguration) throws(StoreError) {
        // Before this process has the file open itself.
        holder = DatabaseUse.holder(of: try DatabaseFile(path: configuration.path).path)
        let look = try DatabaseSnapshot(configuration)
        path = look.file.path
        freeBytes = DatabaseFile.freeByteCount(inFolder: look.file.folder)
        writeAheadLogBytes = DatabaseFile.byteCount(look.file.logPath)
        let dayBefore = configuration.clock.now().advanced(byMilliseconds: -86_400_000)
        let connection = look.connection
        (content, (directory, clicksOfLastDay, firstDay)) = try look.atOneMoment { () throws(StoreError) in
            let content = try look.content()
            return try look.opening.translated { () throws(SQLiteError) in
                let clicks = try connection.prepare(Self.clicksSince).first(dayBefore.milliseconds) {
                    $0.integer(0)
                }
                let first = try connection.prepare(Self.first).first { $0.optionalInteger(0) } ?? nil
                let directory = try SQLiteReader(connection: connection).directorySnapshot().directory
                return (content, (directory, clicks ?? 0, first.map(Timestamp.init(milliseconds:))))
            }
        }
    }

    /// A process that has a database open; 0 where its number is not to be seen, nil where there is none.
    ///
    /// Not to be asked while this process has it open.
    public static func holder(of path: String) -> Int32? {
        DatabaseUse.holder(of: path)
    }

    /// Tells from its first bytes whether a file can be a database, before anything is asked of it.
    ///
    /// - Throws: `notFound` for an empty file, `corrupted` for one of something else.
    public static func checkIsDatabase(_ path: String) throws(StoreError) {
        guard DatabaseFile.byteCount(path) > 0 else {
            throw StoreError(.notFound, "there is nothing in \(path) yet")
        }
        try DatabaseFile(path: path).checkHeader()
    }

    /// The version of the SQLite library.
    public static var libraryVersion: String { SQLiteLibrary.version }

    private static let clicksSince: SQL = """
        SELECT sum(count) FROM counts
        WHERE campaign = '' AND dimension = 'total' AND span = 'hour' AND period >= ?1
            AND metric IN ('clicks', 'robots')
        """
    private static let first: SQL = """
        SELECT min(period) FROM counts WHERE campaign = '' AND dimension = 'total' AND span = 'day'
        """
}
