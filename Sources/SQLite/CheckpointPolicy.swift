/// Decides when the write-ahead log is copied into the database, and by which thread, so that the log stays bounded and
/// writers wait as little as possible.
///
/// All sizes are in pages of the database.
public struct CheckpointPolicy: Sendable {
    public enum Checkpointer: Sendable {
        /// A background thread, while the writer writes.
        case background
        /// The writer, between two transactions: nothing is written meanwhile.
        case writer
    }

    /// The size that SQLite truncates the log's file to when it starts the log again.
    static let limitBytes: Int64 = 67_108_864
    /// Uncopied pages after which copying starts: later versions of one page are copied once, and each copy syncs the
    /// disk that commits wait for.
    static let copyingPages = 1000
    /// Pages after which each commit is copied at once, so that the pause below has little left to copy.
    static let closingPages = 7168
    /// Pages after which the writer pauses until the log is copied: SQLite could not start the log again while writes
    /// continue, because its end moves on.
    public static let pausePages = 8192
    /// Pages that the writer copies at most in a pause.
    ///
    /// A long read, such as a backup, leaves more behind, which the background copies while writes continue.
    public static let pausedBacklogPages = 16_384
    /// How many times in a row the background may copy more than that.
    ///
    /// After a long read ends, each pass copies what was written during the previous pass, which soon becomes little.
    /// Otherwise the disk takes writes faster than it copies them, and the log would grow until the disk is full.
    public static let longPassLimit = 3

    /// Whether a background thread copies; commands beside a server have none.
    private let hasBackground: Bool
    /// Pages in the log after the last commit.
    private var pages = 0
    /// The number of these pages that the background found in the database as well.
    private var copiedPages = 0
    private var longPasses = 0

    public init(hasBackground: Bool) { self.hasBackground = hasBackground }

    /// Records the log's size after a commit.
    public mutating func noteCommit(logPages: Int) {
        if logPages < pages { startAgain() }
        pages = logPages
    }

    /// Records how many pages of the log are in the database after the background has copied what it could.
    public mutating func noteCopied(logPages: Int) {
        if logPages < copiedPages { startAgain() }
        longPasses = logPages - copiedPages > Self.pausedBacklogPages ? longPasses + 1 : 0
        copiedPages = logPages
    }

    /// The thread that is to copy now; nil if none.
    public var copier: Checkpointer? {
        // More copied pages than pages: the copy was recorded after the log had started again.
        let backlog = copiedPages <= pages ? pages - copiedPages : pages
        let isWorthAPause = backlog <= Self.pausedBacklogPages || longPasses >= Self.longPassLimit
        if pages >= Self.pausePages, isWorthAPause || !hasBackground { return .writer }
        return backlog >= Self.copyingPages || pages >= Self.closingPages ? .background : nil
    }

    private mutating func startAgain() { (copiedPages, longPasses) = (0, 0) }
}
