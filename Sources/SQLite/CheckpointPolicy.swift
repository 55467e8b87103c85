/// Decides when the write-ahead log is copied into the database, and which thread copies it.
///
/// The aim is a log of bounded size and the shortest waits for writers. Sizes are in pages of the database,
/// except ``limitBytes``.
public struct CheckpointPolicy: Sendable {
    public enum Checkpointer: Sendable {
        /// A background thread, while the writer writes.
        case background
        /// The writer, between two transactions: nothing is written meanwhile.
        case writer
    }

    /// The size in bytes to which SQLite truncates the log's file when it resets the log
    /// (writes it from its start again).
    static let limitBytes: Int64 = 67_108_864
    /// If this many pages are not copied yet, the background thread starts to copy.
    ///
    /// With a smaller number, frequently changed pages would be copied more often. Each copy also syncs the
    /// disk, which delays commits.
    static let copyingPages = 1000
    /// If the log has this many pages, the background thread copies after each commit.
    ///
    /// Then the writer has little left to copy when it pauses.
    static let closingPages = 7168
    /// If the log has this many pages, the writer pauses and copies the log.
    ///
    /// SQLite resets the log only when all of it is copied, which never happens while writes continue.
    public static let pausePages = 8192
    /// If more pages than this are not copied yet, the writer does not pause to copy them.
    ///
    /// After a long read, such as a backup, more pages may wait to be copied. The background thread copies
    /// them while writes continue. After ``longPassLimit`` long copies, and in a process without a background
    /// thread, the writer copies any number of pages.
    public static let pausedBacklogPages = 16_384
    /// After this many consecutive background copies of more than ``pausedBacklogPages`` each, the writer
    /// copies any number of pages.
    ///
    /// After a long read ends, each copy contains the pages written during the copy before it, so copies soon
    /// become small. If the copies do not become small, pages are written faster than they are copied, and
    /// without a pause the log would grow until the disk is full.
    public static let longPassLimit = 3

    /// Whether this process has a background thread that copies; commands that run beside a server have
    /// none, so their writer copies any number of pages.
    private let hasBackground: Bool
    /// The number of pages in the log after the last commit.
    private var pages = 0
    /// The number of the log's pages that were also in the database after the last background copy.
    private var copiedPages = 0
    private var longPasses = 0

    public init(hasBackground: Bool) { self.hasBackground = hasBackground }

    /// Records the log's size after a commit.
    public mutating func recordCommit(logPages: Int) {
        if logPages < pages { startAgain() }
        pages = logPages
    }

    /// Records how many pages of the log are also in the database after a background copy.
    public mutating func recordCopied(logPages: Int) {
        if logPages < copiedPages { startAgain() }
        longPasses = logPages - copiedPages > Self.pausedBacklogPages ? longPasses + 1 : 0
        copiedPages = logPages
    }

    /// The thread that must copy now; nil if no copy is due.
    public var copier: Checkpointer? {
        // If more pages are copied than the log has, SQLite has reset the log since the copy.
        let backlog = copiedPages <= pages ? pages - copiedPages : pages
        let isWorthAPause = backlog <= Self.pausedBacklogPages || longPasses >= Self.longPassLimit
        if pages >= Self.pausePages, isWorthAPause || !hasBackground { return .writer }
        return backlog >= Self.copyingPages || pages >= Self.closingPages ? .background : nil
    }

    private mutating func startAgain() { (copiedPages, longPasses) = (0, 0) }
}
