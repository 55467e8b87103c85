public import Attribution

/// The reads of a database on one connection.
public protocol DatabaseReader: SendableMetatype {
    associatedtype Failure: Error

    /// Returns the error for the caller, and whether the connection must be replaced.
    static func translated(_ failure: Failure) -> EngineFailure
    /// Begins to read one snapshot of the database.
    func beginSnapshot() throws(Failure)
    func endSnapshot() throws(Failure)
}

/// The rows that an event loop reads for one check, or for one other request.
///
/// If the database answers at once, the rows are read when they are asked for. If it answers after a while,
/// the rows are in memory, in a ``RowCache``, which records what is missing.
public protocol LoopRows: CheckRowReader {
    /// Whether a row was missing, so that what was computed from these rows since the last fetch is void.
    var isVoid: Bool { get }
    /// Returns the error for the caller, and whether the connection must be replaced.
    static func translated(_ failure: Failure) -> EngineFailure
}

/// An event loop's connection.
///
/// It reads on the loop's thread, and never blocks that thread to wait for a server.
public protocol LoopReader: DatabaseReader, DirectoryReader, NumberReader {
    associatedtype Rows: LoopRows = Self

    /// The rows of one check: the rows of the open snapshot, or a cache that is still empty.
    var rows: Rows { get }
    /// Fetches the rows that were missing in a void run, before the read runs again.
    ///
    /// A database that answers at once has no void runs, so this is never called.
    ///
    /// - Parameters:
    ///   - rows: the rows of one check.
    ///   - deadline: when the caller of the read stops waiting, in nanoseconds of the monotonic clock.
    /// - Throws: if not all of these rows could be read.
    func fetch(for rows: Rows, until deadline: UInt64) async throws(Failure)
}

/// Constants for a connection whose reads are answered at once, so that a check neither suspends nor reads twice.
extension LoopReader where Rows == Self {
    public var rows: Self { self }
    public var isVoid: Bool { false }

    public func fetch(for rows: Self, until deadline: UInt64) throws(Failure) {}
}

/// The reads of statistics, explanations, pages and the history, in a snapshot of a database.
///
/// Each subject has a file, with the rows that a database reads, the functions that order, bound and add them up, and
/// the session's functions that use them.
public protocol ReportReader: JobReader, StatisticsRows, DriftRows, CheckRows, ExplanationRows, LinkPageRows,
    AuditRows, ExportRows, HistoryRows, PrivacyRows, SessionRows, EventRows, ApplePostbackRows
{}

/// A database that is open.
///
/// A module for a database has four more parts:
/// - a ``RowWriter`` and a ``RowReader``, which move the values of records;
/// - a ``StoreWriter``, which runs the statements of writes, with its ``WriterReader``;
/// - a ``BlockingEngine``, which begins, commits and undoes their transactions;
/// - the classes of its store and of a loop's session.
public protocol StorageBackend: Sendable {
    /// A connection that may block its thread: for jobs, background threads and commands.
    associatedtype Reader: DatabaseReader
    /// The connection of an event loop.
    associatedtype Loop: LoopReader where Loop.Failure == Reader.Failure

    func openReader() throws(Reader.Failure) -> Reader
    /// Opens a connection for reads that requests wait for: if the database hangs, these reads fail within two seconds.
    func openReportReader() throws(Reader.Failure) -> Reader
    /// Opens a connection with a small cache, for a job that reads every page once.
    func openScanner() throws(Reader.Failure) -> Reader
    /// Returns a loop's connection as one that reads reports; nil if a report would block the loop for too long.
    static func reader(of loop: Loop) -> Reader?
    /// The size of the write-ahead log; 0 for a database without one.
    var logByteCount: Int64 { get }
    associatedtype Rules: StoreRules = FileRules
    /// Removes all former content of rows from the write-ahead log; returns false while another process prevents that.
    func clearLog() throws(StoreError) -> Bool
}

extension StorageBackend {
    public func clearLog() -> Bool { true }
    public func openReportReader() throws(Reader.Failure) -> Reader { try openReader() }
    public static func reader(of loop: Loop) -> Reader? { nil }
}

extension StorageBackend where Loop == Reader {
    public static func reader(of loop: Loop) -> Reader? { loop }
}

/// The rules of the shared storage code that differ between kinds of databases.
///
/// They are constants, so that the compiler leaves out what a kind of database does not need.
public protocol StoreRules: SendableMetatype {
    /// Whether a new click's number is larger than the numbers of all committed clicks of all processes.
    ///
    /// If so, each transaction starts by reading the clicks and posts whose numbers are larger than the newest known
    /// one: other processes have recorded them. If not, the database's reader finds repeated posts: see
    /// ``WriterReader/click(ofPost:visit:in:recordedAt:)``.
    static var readsNewestClicks: Bool { get }
    /// Whether the writing thread decides which names have separate counts.
    ///
    /// If not, counts are written under all names, and the job that adds them up decides: see
    /// ``CountDeltas/admitted(by:read:)``.
    static var admitsNames: Bool { get }
    /// Whether apps and keys come into memory by ``DirectoryCache/publish(_:)``, so that loops never read them.
    static var publishesDirectory: Bool { get }
    /// How long a transaction takes further writes, in nanoseconds; 0 if it takes only the writes that wait when it
    /// begins.
    static var gatheringNanoseconds: UInt64 { get }
    /// The jobs of ``StoreThreads`` that the database needs.
    static var jobs: Set<JobName> { get }
}

/// The rules of a database in a file, which one machine reads and writes.
public enum FileRules: StoreRules {
    public static var readsNewestClicks: Bool { true }
    public static var admitsNames: Bool { true }
    public static var publishesDirectory: Bool { false }
    public static var gatheringNanoseconds: UInt64 { 4_000_000 }
    public static var jobs: Set<JobName> {
        [
            .filter, .summaries, .retention, .audit, .applePostbacks, .compaction, .learning, .drift, .fading,
            .collisions, .policyGrid, .postbacks,
        ]
    }
}
