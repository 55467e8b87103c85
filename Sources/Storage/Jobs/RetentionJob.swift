public import Attribution

/// The number of clicks that retention has closed and deleted.
public struct RetentionProgress: Equatable, Sendable {
    /// Clicks that were closed because their window has ended.
    public var closed: Int64 = 0
    /// Clicks that were deleted with their fingerprints and claims; their counts stay.
    public var deleted: Int64 = 0

    public init(closed: Int64 = 0, deleted: Int64 = 0) { (self.closed, self.deleted) = (closed, deleted) }
}

/// Deletes clicks after the retention time and closes clicks that expired, in slices that take the writing thread a few
/// milliseconds.
public struct RetentionJob<Reader: JobReader>: Job {
    public let name = JobName.retention
    /// The clicks closed and deleted so far.
    public private(set) var progress = RetentionProgress()

    private let context: JobContext<Reader>
    private var pace = RetentionPace()
    /// The end of the current series of slices; nil between two series.
    private var stretchEnd: UInt64?

    /// The length of a series of slices, and of the pause after it, in nanoseconds.
    private static var interval: UInt64 { 1_000_000_000 }
    /// The maximum number of clicks in one slice.
    private static var sliceLength: Int { 200 }
    /// The time after which a slice ends, in nanoseconds, because other writes wait for it.
    private static var sliceNanoseconds: UInt64 { 2_000_000 }
    /// The minimum number of milliseconds from the end of a click's window to its closing.
    ///
    /// If the clock is set back by less than this, no click has been closed too early. The delay does not lengthen a window for
    /// checks.
    private static var closingDelay: Int64 { 60_000 }

    public init(_ context: JobContext<Reader>) { self.context = context }

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
        let configuration = context.state.configuration
        let step = RetentionStep(
            closingBefore: now.advanced(byMilliseconds: -Self.closingDelay),
            deadlines: configuration.deadlines(at: now),
            now: now,
            limit: Self.sliceLength,
            nanoseconds: Self.sliceNanoseconds,
            notesSettledClock: !configuration.trustsClock
        )
        guard case .retention(let slice) = try context.queue.perform(.job(.retention(step))) else {
            throw .mismatch
        }
        context.state.health.setRetentionLag(slice.isDeleting ? slice.lag / 1000 : 0)
        progress.closed += slice.closed
        progress.deleted += slice.deleted
        return slice
    }
}

/// The share of the time that retention may use: small, unless clicks fall due faster than they are handled.
public struct RetentionPace: Sendable {
    private var lag: Int64?
    private var isLosing = false

    public init() {}

    /// The share of the time for slices.
    public var share: Double { isLosing ? 1 / 3 : 1 / 8 }

    /// Compares the lag with the lag at the end of the last series.
    ///
    /// - Parameter now: how long the next click to delete or close has been due, in milliseconds; 0 if none is.
    public mutating func noteLag(_ now: Int64) {
        isLosing = now > (lag ?? now)
        lag = now
    }
}
