public import Attribution
internal import Threads

/// Validates the wall clock for jobs and for the model.
///
/// After the clock has jumped by more than a day, no job deletes anything, and the model learns from no request.
/// Requests themselves use the wall clock as it is. The database stores the time at which jobs last used the wall
/// clock. The expected time is this time plus the monotonic time since then. Jobs wait while the wall clock differs
/// from the expected time by more than a day. After a day of uptime without another leap, the wall clock counts as
/// right, because an operator had time to see the warning.
public struct SettledClock: Sendable {
    /// Readings of both clocks at one time, from which the expected time follows.
    private struct Reading {
        var wall: Timestamp
        /// Nanoseconds.
        var monotonic: UInt64

        /// The milliseconds by which another reading's wall clock is ahead of the expected time.
        func lead(of other: Reading) -> Int64 {
            let elapsed = Int64(clamping: (other.monotonic - min(monotonic, other.monotonic)) / 1_000_000)
            let (expected, isTooLate) = wall.milliseconds.addingReportingOverflow(elapsed)
            let start = isTooLate ? .max : expected
            let (lead, isTooLong) = other.wall.milliseconds.subtractingReportingOverflow(start)
            guard isTooLong else { return lead }
            return other.wall > wall ? .max : .min
        }
    }

    /// Whether jobs may use the wall clock.
    public enum State: Equatable, Sendable {
        case settled
        /// The milliseconds by which the clock is ahead of the expected time; negative if it is behind.
        case unsettled(lead: Int64)
    }

    /// The difference from the expected time, in milliseconds, above which the clock has jumped.
    public static let tolerance: Int64 = 86_400_000
    /// The uptime after which a clock without another leap counts as right, in nanoseconds.
    public static let settlingTime: UInt64 = 86_400_000_000_000

    /// The result of the last ``update(now:monotonic:)``; settled before the first update.
    public private(set) var state: State = .settled
    private var settled: Reading
    /// The reading since which the unsettled clock has not jumped again.
    private var unsettledSince: Reading?

    /// - Parameters:
    ///   - lastSettled: when jobs last used the wall clock, according to the database; nil for a new database.
    ///   - isAccepted: whether an operator confirms that the clock is right.
    ///   - now: the wall clock's reading.
    ///   - monotonic: the monotonic clock's reading, in nanoseconds.
    public init(lastSettled: Timestamp?, isAccepted: Bool, now: Timestamp, monotonic: UInt64) {
        settled = Reading(wall: isAccepted ? now : lastSettled ?? now, monotonic: monotonic)
    }

    /// Compares the clocks.
    ///
    /// - Returns: whether ``state`` has changed between settled and unsettled.
    @discardableResult
    public mutating func update(now: Timestamp, monotonic: UInt64) -> Bool {
        let reading = Reading(wall: now, monotonic: monotonic)
        let lead = settled.lead(of: reading)
        let isSteady =
            unsettledSince.map { $0.lead(of: reading).magnitude <= UInt64(Self.tolerance) } ?? false
        let isLongEnough = unsettledSince.map { monotonic >= $0.monotonic + Self.settlingTime } ?? false
        let wasSettled = state == .settled
        if lead.magnitude <= UInt64(Self.tolerance) || (isSteady && isLongEnough) {
            settled = reading
            unsettledSince = nil
            state = .settled
        } else {
            if !isSteady { unsettledSince = reading }
            state = .unsettled(lead: lead)
        }
        return wasSettled != (state == .settled)
    }
}

extension SettledClock {
    /// Returns whether `time` differs by at most a day from the time that is expected at `monotonic` (in nanoseconds).
    ///
    /// Unlike ``state``, the result is computed at the call. The expected time counts from the last
    /// comparison that found the clock settled.
    public func expects(_ time: Timestamp, monotonic: UInt64) -> Bool {
        settled.lead(of: Reading(wall: time, monotonic: monotonic)).magnitude <= UInt64(Self.tolerance)
    }

    /// The log line after a change of ``state``.
    public var sentence: String {
        guard case .unsettled(let lead) = state else {
            return "the clock is trusted again: background jobs continue"
        }
        let days = lead.magnitude / UInt64(Self.tolerance)
        return
            "the clock is \(days) days \(lead > 0 ? "later" : "earlier") than expected from the database"
            + " and the uptime. Learning, retention, compaction and the destruction of keys wait until the"
            + " clock is right, at most for 24 hours of uptime. If the clock is right, restart with"
            + " `afterlink serve --accept-clock`."
    }
}

/// The clocks of a store's jobs, which all its threads share.
final class JobClock: Sendable {
    private let wall: WallClock
    private let monotonicNow: @Sendable () -> UInt64
    private let log: StoreLog
    /// Nil until ``start(lastSettled:isAccepted:)``, and for a store that trusts its clock.
    private let settled = ConditionLock<SettledClock?>(nil)

    /// - Parameters:
    ///   - wall: the clock of records.
    ///   - monotonicNow: the monotonic clock, in nanoseconds.
    ///   - log: where leaps are reported.
    init(_ wall: WallClock, monotonicNow: @escaping @Sendable () -> UInt64, log: StoreLog) {
        self.wall = wall
        self.monotonicNow = monotonicNow
        self.log = log
    }

    /// Starts to compare the clocks.
    ///
    /// - Parameters:
    ///   - lastSettled: when jobs last used the wall clock; nil for a new database.
    ///   - isAccepted: whether an operator confirms that the clock is right.
    func start(lastSettled: Timestamp?, isAccepted: Bool) {
        let (now, moment) = (wall.now(), monotonicNow())
        let clock =
            SettledClock(lastSettled: lastSettled, isAccepted: isAccepted, now: now, monotonic: moment)
        settled.withLock { $0 = clock }
    }

    /// The wall clock's time, even if it may have jumped.
    var now: Timestamp { wall.now() }

    /// Returns whether the model may learn from a request with this time; a loop calls this once for each request.
    ///
    /// The learnt sums fade, so a single request with a time that is a year ahead would outweigh all earlier ones.
    func allowsLearning(at time: Timestamp) -> Bool {
        let monotonic = monotonicNow()
        return settled.withLock { $0?.expects(time, monotonic: monotonic) ?? true }
    }

    /// Returns the time for jobs; nil while the clock may have jumped.
    ///
    /// The start and the end of such a period are logged.
    func settledNow() -> Timestamp? {
        let (now, monotonic) = (wall.now(), monotonicNow())
        let (state, news) = settled.withLock { clock -> (SettledClock.State, String?) in
            guard let hasChanged = clock?.update(now: now, monotonic: monotonic) else {
                return (.settled, nil)
            }
            return (clock?.state ?? .settled, hasChanged ? clock?.sentence : nil)
        }
        if let news { log.write(state == .settled ? .information : .warning, news) }
        return state == .settled ? now : nil
    }
}
