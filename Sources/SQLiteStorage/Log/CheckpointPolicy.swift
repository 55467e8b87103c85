internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Decides when the write-ahead log is copied into the database, and by whom, so that it stays bounded and who
/// writes waits as little as can be.
///
/// All sizes are in pages of the database.
package struct CheckpointPolicy: Sendable {
    package enum Checkpointer: Sendable {
        /// The jobs' thread, beside the writes.
        case background
        /// The writer, between two transactions: nobody can write more meanwhile.
        case writer
    }

    /// What the log's file is cut down to when SQLite begins it anew.
    static let limitBytes: Int64 = 67_108_864
    /// Pages that are not copied yet after which copying begins: what follows each other on one page is copied once,
    /// and each copying syncs the disk that commits wait for.
    static let copyingPages = 1000
    /// Pages after which each commit is copied at once, so that the pause below finds little left to copy.
    static let closingPages = 7168
    /// Pages after which the writer lets the copying catch up: with writes going on without a pause, SQLite could
    /// never begin the log anew, because its end moves on.
    package static let pausePages = 8192
    /// Pages that the writer copies at most while it lets the copying catch up.
    ///
    /// A reader that stayed for long, such as
    /// a backup, leaves more behind: that is copied in the background, and nobody waits for it.
    package static let pausedBacklogPages = 16_384
    /// Times in a row that the background may copy more than that.
    ///
    /// After a reader has gone, each time copies what was written during the last one, and that is soon little. Where
    /// it is not, the disk takes writes faster than it copies them, and the log would grow until the disk is full.
    package static let longPassLimit = 3

    /// Off for commands beside a server, where nobody else copies.
    private let hasBackground: Bool
    /// In the log after the last commit.
    private var pages = 0
    /// Those of them that the background saw in the database as well.
    private var copiedPages = 0
    private var longPasses = 0

    package init(hasBackground: Bool) {
        self.hasBackground = hasBackground
    }

    /// A transaction was committed, and the log has so many pages.
    package mutating func noteCommit(logPages: Int) {
        if logPages < pages { beginAnew() }
        pages = logPages
    }

    /// The background has copied what it could: so many pages of the log are in the database.
    package mutating func noteCopied(logPages: Int) {
        if logPages < copiedPages { beginAnew() }
        longPasses = logPages - copiedPages > Self.pausedBacklogPages ? longPasses + 1 : 0
        copiedPages = logPages
    }

    /// Who is to copy now.
    package var copier: Checkpointer? {
        // Copied before the log began anew, and told after it.
        let backlog = copiedPages <= pages ? pages - copiedPages : pages
        let isWorthAPause = backlog <= Self.pausedBacklogPages || longPasses >= Self.longPassLimit
        if pages >= Self.pausePages, isWorthAPause || !hasBackground { return .writer }
        return backlog >= Self.copyingPages || pages >= Self.closingPages ? .background : nil
    }

    private mutating func beginAnew() {
        copiedPages = 0
        longPasses = 0
    }
}

/// Copies the write-ahead log into the database when the writer asks for it, and every second.
///
/// It waits for no reader and no writer: it copies what it can.
struct CheckpointJob: Job {
    let name = JobName.checkpoint
    let share = 1.0
    let comesFirst = true

    private let opening: DatabaseOpening
    private let checkpoints: ConditionLock<CheckpointPolicy>
    private var connection: SQLiteConnection?

    private static let interval: UInt64 = 1_000_000_000

    init(_ opening: DatabaseOpening, _ checkpoints: ConditionLock<CheckpointPolicy>) {
        self.opening = opening
        self.checkpoints = checkpoints
    }

    mutating func slice(at _: UInt64) throws(StoreError) -> Due {
        let connection = try openConnection()
        do throws(SQLiteError) {
            let checkpoint = try connection.checkpoint(.passive)
            if !checkpoint.isBlocked {
                checkpoints.withLock { $0.noteCopied(logPages: checkpoint.copiedPages) }
            }
        } catch {
            if error.endsConnection { self.connection = nil }
            throw StoreError(error)
        }
        return .after(Self.interval)
    }

    private mutating func openConnection() throws(StoreError) -> SQLiteConnection {
        if let connection { return connection }
        let opened = try opening.reopen()
        connection = opened
        return opened
    }
}
