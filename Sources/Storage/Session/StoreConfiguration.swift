public import Attribution
internal import Threads

/// The faults that an acknowledged write survives; the raw value is the word of the setting.
public enum Durability: String, CaseIterable, Sendable {
    /// A power cut: a write is acknowledged after it is on disk, and on the standbys that a database server's
    /// `synchronous_commit` waits for.
    case full = "full"
    /// The end of every process, but not a crash of the database's machine: such a crash may lose the commits of the
    /// last seconds.
    case relaxed = "relaxed"
}

/// The settings of a store, for any kind of database.
public struct StoreConfiguration: Sendable {
    public var durability = Durability.full
    /// How long clicks are stored after their window has ended, in seconds.
    public var retentionSeconds: Int64 = 604_800
    /// How long entries of the audit log are stored, in seconds.
    public var auditRetentionSeconds: Int64 = 34_560_000
    /// How long records of checks are stored, in seconds; nil for ``retentionSeconds``.
    public var checkRetentionSeconds: Int64?
    /// How long clicks that launches have consumed are stored after their window has ended, in seconds; nil for
    /// ``retentionSeconds``.
    public var matchRetentionSeconds: Int64?
    /// How long events, and the matches that they are credited to, are stored, in seconds: 400 days.
    public var installRetentionSeconds: Int64 = 34_560_000
    /// The attribution window of apps without a window setting.
    public var standardWindow = AttributionWindow.standard
    /// The time after which a write's caller gets `timedOut`; the write is withdrawn if it is still queued.
    public var timeLimitMilliseconds: UInt64 = 1000
    /// The maximum number of waiting writes; further writes are refused at once.
    public var queueLimit = 8192
    /// The maximum number of writes in one transaction.
    public var batchLimit = 512
    /// Whether the store runs jobs, and runs long reads on a separate thread; off for commands beside a server.
    public var hasBackgroundWork = true
    /// Whether checks do the work of the learning jobs, with the time of the check as the current time.
    ///
    /// This is for servers whose clock is moved by tests. A check first computes its model or summary if that is
    /// missing or old, and the model learns from every launch.
    public var learnsAtOnce = false
    /// Whether the store opens an existing, up-to-date database without the writer's lock, and refuses all writes.
    public var isReadOnly = false
    /// How numbers of clicks and checks are made.
    public var numbers = NumberLayout.plain
    /// The maximum time in milliseconds from a claim of another server until that server has written the response.
    ///
    /// 0 means that no other server writes to the database; nil means the default of the kind of database.
    public var foreignAnswerMilliseconds: Int64?
    /// The maximum delay in milliseconds of a check's record in another process: from an answer without a match until
    /// that process has stored the record, if it can write.
    ///
    /// An erasure searches once more after this time. 0 means that no other process writes to the database.
    public var foreignUpdateMilliseconds: Int64 = 2000
    /// If a loop has this many pending check records, it requests a write, so that no write takes long.
    public var recordsAtOnce = 512
    /// The maximum number of learnt sums that the job stores in one write.
    public var learntSumsAtOnce = LearntSlice.maximumLength
    public var clock: WallClock
    /// Whether jobs use the wall clock even after it has jumped: for servers whose clock is moved by tests.
    public var trustsClock = false
    /// Whether an operator has confirmed for this start that the clock is right, even if it is far from the
    /// expected time.
    public var acceptsClock = false
    /// Returns nanoseconds of the clock that ``Check/firstByteAt`` is read from.
    public var monotonicNow: @Sendable () -> UInt64 = { MonotonicTime.now().nanoseconds }
    /// Returns 64 unpredictable bits.
    public var random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    /// What replays of recorded traffic need; nil for a store that makes none.
    public var replays: ReplaySettings?
    /// How postbacks are sent; nil for a store that sends none.
    public var postbacks: PostbackSettings?
    /// How long events of the outbox are stored, in seconds.
    public var outboxRetentionSeconds: Int64 = 2_592_000
    public var log = StoreLog.none
    /// How long the database must work without a failure until the log reports that it works again, in nanoseconds.
    package var quietNanoseconds = FailureLog.usualQuiet

    public init(clock: WallClock) { self.clock = clock }

    /// The time for which both kinds of clicks and also the records of checks are stored: the shortest of
    /// their retentions, in seconds.
    public var historySeconds: Int64 {
        [matchRetentionSeconds, checkRetentionSeconds].compactMap(\.self).reduce(retentionSeconds, min)
    }

    /// Returns the times before which rows are deleted.
    public func deadlines(at now: Timestamp) -> RetentionDeadlines {
        func before(_ seconds: Int64?) -> Timestamp {
            now.advanced(byMilliseconds: -(seconds ?? retentionSeconds) * 1000)
        }
        return RetentionDeadlines(
            clicks: before(nil),
            matches: before(matchRetentionSeconds),
            checks: before(checkRetentionSeconds),
            installs: before(installRetentionSeconds)
        )
    }
}

/// The times before which rows are deleted, by kind.
public struct RetentionDeadlines: Sendable {
    /// For clicks that no launch has consumed, by their expiry.
    public let clicks: Timestamp
    /// For clicks that launches have consumed, by their expiry.
    public let matches: Timestamp
    /// For records of checks.
    public let checks: Timestamp
    /// For events and the matches that they are credited to.
    public let installs: Timestamp

    /// The time before which all expired clicks are deleted.
    public var all: Timestamp { min(clicks, matches) }
    /// The time before which the expired clicks of one kind are deleted; equal to ``all`` if there is one retention.
    public var some: Timestamp { max(clicks, matches) }
    /// Whether clicks that launches have consumed are deleted before other clicks.
    public var deletesMatchesFirst: Bool { matches > clicks }
}
