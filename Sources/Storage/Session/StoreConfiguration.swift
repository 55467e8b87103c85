public import Attribution
internal import Threads

/// How a store works, whichever database it is on.
public struct StoreConfiguration: Sendable {
    /// How long clicks are kept after their window has ended, in seconds.
    public var retentionSeconds: Int64 = 604_800
    /// The window of apps that have none of their own.
    public var standardWindow = AttributionWindow.standard
    /// The time after which a write is withdrawn and its caller gets `timedOut`.
    public var timeLimitMilliseconds: UInt64 = 1000
    /// Writes that wait at most; more are refused at once.
    public var queueLimit = 8192
    /// Writes in one transaction, at most.
    public var batchLimit = 512
    /// Whether jobs run and long reads have a thread of their own; off for commands beside a server.
    public var hasBackgroundWork = true
    /// Stores and uses what a check teaches before the next one is answered, by the checks' own time: for servers whose
    /// clock tests move faster than the world's.
    public var learnsAtOnce = false
    /// Opens a database that is there and up to date without the writer's lock, and refuses all writes.
    public var isReadOnly = false
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

    public init(clock: WallClock) { self.clock = clock }
}
