public import Attribution
public import Storage
internal import Threads

/// How a database on SQLite is to be kept.
public struct SQLiteConfiguration: Sendable {
    /// What an acknowledged write survives.
    public enum Durability: String, CaseIterable, Sendable {
        /// A power cut: each commit is synced to disk before anybody is told.
        case full
        /// The death of the process, not that of the machine: commits of the last seconds may be lost with it.
        case relaxed
    }

    public var path: String
    public var durability = Durability.full
    /// How long clicks are kept after their window has ended, in seconds.
    public var retentionSeconds: Int64 = 604_800
    /// Of apps that have none of their own.
    public var standardWindow = AttributionWindow.standard
    /// What takes longer is answered `timedOut`, and withdrawn.
    public var timeLimitMilliseconds: UInt64 = 1000
    /// What waits beyond it is refused at once.
    public var queueLimit = 8192
    /// Requests in one transaction, at most.
    public var batchLimit = 512
    /// Off for commands beside a server, which do their one thing and end.
    public var hasBackgroundWork = true
    /// Stores and uses what a check teaches before the next one is answered, by the checks' own time: for servers whose
    /// clock tests move faster than the world's.
    public var learnsAtOnce = false
    /// Opens a database that is there and up to date without the writer's lock, and refuses all writes.
    public var isReadOnly = false
    /// Pages that the database may have; nil: as many as the disk holds.
    public var pageLimit: Int64?
    public var clock: WallClock
    /// Whether jobs go by the clock however it leaps: for servers whose clock tests move.
    public var trustsClock = false
    /// Whether an operator says that the clock is right at the start, however long nothing was recorded.
    public var acceptsClock = false
    /// Nanoseconds of the clock that ``Check/firstByteAt`` is read from.
    public var monotonicNow: @Sendable () -> UInt64 = { MonotonicTime.now().nanoseconds }
    /// 64 unpredictable bits.
    public var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    public var log = StoreLog.none
    /// How long nothing may have failed before the log says that it works again, in nanoseconds.
    package var quietNanoseconds = FailureLog.usualQuiet

    public init(path: String, clock: WallClock) {
        self.path = path
        self.clock = clock
    }
}
