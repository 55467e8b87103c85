public import Attribution

/// What retention has done.
public struct RetentionProgress: Equatable, Sendable {
    /// Clicks whose window has ended, taken out of what checks look into.
    public var closed: Int64 = 0
    /// Clicks deleted with their fingerprints and claims.
    ///
    /// Their counts stay.
    public var deleted: Int64 = 0

    public init(closed: Int64 = 0, deleted: Int64 = 0) {
        self.closed = closed
        self.deleted = deleted
    }
}

/// Closes clicks that expired and deletes those whose time is over, in slices that hold the writer for a few
/// milliseconds each; then compacts the counts of old days.
public struct RetentionJob<Reader: JobReader>: Job {
    public let name = JobName.retention
    /// What was done so far.
    public private(set) var progress = RetentionProgress()

    private let context: JobContext<Reader>
    private let health: HealthRecorder
    private let keptMilliseconds: Int64
    /// Whether to store that jobs go by the wall clock.
    private let notesSettledClock: Bool
    private var pace = RetentionPace()
    /// When the present stretch of slices ends; nil between two stretches.
    private var stretchEnd: UInt64?

    /// How long a stretch of slices is, and the pause after it, in nanoseconds.
    private static var interval: UInt64 { 1_000_000_000 }
    /// Clicks of one slice, at most.
    private static var sliceLength: Int { 200 }
    /// When a slice that is not done ends all the same: other writes wait for it too.
    private static var sliceNanoseconds: UInt64 { 2_000_000 }
    /// How long after its window a click is closed: so much may a clock be set back without a loss.
    ///
    /// Checks judge by the clock itself, not by this.
    private static var closingDelay: Int64 { 60_000 }

    /// - Parameters:
    ///   - context: what jobs share.
    ///   - health: where the lag is reported.
    ///   - keptMilliseconds: how long clicks are kept after their window has ended.
    ///   - notesSettledClock: whether to store that jobs go by the wall clock.
    public init(
        _ context: JobContext<Reader>,
        health: HealthRecorder,
        keptMilliseconds: Int64,
        notesSettledClock: Bool
    ) {
        self.context = context
        self.health = health
        self.keptMilliseconds = keptMilliseconds
        self.notesSettledClock = notesSettledClock
    }

    public var share: Double { pace.share }

    public mutating func slice(at moment: UInt64) throws(StoreError) -> Due {
        let end = stretchEnd ?? moment + Self.interval
        stretchEnd = end
        let slice = try run()
        guard slice.isMore, moment < end else {
            pace.noteLag(slice.lag)
            stretchEnd = nil
            return .after(Self.interval)
        }
        return .more
    }

    private mutating func run() throws(StoreError) -> RetentionSlice {
        guard let now = context.clock.settledNow() else { return RetentionSlice() }
        let step = RetentionStep(
            closingBefore: now.advanced(byMilliseconds: -Self.closingDelay),
            deletingBefore: now.advanced(byMilliseconds: -keptMilliseconds),
            now: now,
            limit: Self.sliceLength,
            nanoseconds: Self.sliceNanoseconds,
            notesSettledClock: notesSettledClock
        )
        guard case .retention(var slice) = try context.queue.perform(.job(.retention(step))) else {
            throw .mismatch
        }
        health.setRetentionLag(slice.isDeleting ? slice.lag / 1000 : 0)
        progress.closed += slice.closed
        progress.deleted += slice.deleted
        if !slice.isMore { slice.isMore = try compact(at: now) }
        return slice
    }

    /// Compacts some counts of the oldest day that is due; false when there is none.
    private func compact(at now: Timestamp) throws(StoreError) -> Bool {
        let day = try context.read { reader throws(Reader.Failure) in try reader.firstUncompactedDay() }
        guard let day, day < CounterCompaction.end(at: now) else { return false }
        try context.queue.perform(.job(.compact(day: day, nanoseconds: Self.sliceNanoseconds)))
        return true
    }
}

/// How much of the time retention takes: little, so that checks and clicks beside it hardly notice, and more as long
/// as more expires than that can do.
public struct RetentionPace: Sendable {
    private var lag: Int64?
    private var isLosing = false

    public init() {}

    /// The part of the time for slices.
    public var share: Double { isLosing ? 1 / 3 : 1 / 8 }

    /// Compares the lag with that of the last stretch of work.
    ///
    /// - Parameter now: for how many milliseconds the next click has been due; 0 when there is none.
    public mutating func noteLag(_ now: Int64) {
        isLosing = now > (lag ?? now)
        lag = now
    }
}
