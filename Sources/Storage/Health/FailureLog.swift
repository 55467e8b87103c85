public import Attribution
internal import Synchronization
internal import Threads

/// Logs each kind of failure once, then at most every ten seconds while it lasts, and logs its end once.
///
/// All threads of a store share one log, so a failure of several threads is logged once. A failure has ended when each
/// kind of work that failed has succeeded, and nothing has failed for a second, because a full disk still takes a small
/// write now and then.
public final class FailureLog: Sendable {
    /// A kind of work, which may fail while the others succeed.
    public enum Work: Hashable, Sendable {
        case reading
        case writing
        case job(JobName)
    }

    private struct State: Sendable {
        var loggedAt: [StoreError.Code: UInt64] = [:]
        var failing: Set<Work> = []
        var failedAt: UInt64 = 0
        /// Whether a failure was logged and its end was not.
        var isReported = false
    }

    /// The minimum time between two log lines for the same failure, in nanoseconds.
    private static let repetition: UInt64 = 10_000_000_000
    /// If nothing has failed for this long, in nanoseconds, a failure has ended.
    public static let usualQuiet: UInt64 = 1_000_000_000

    private let log: StoreLog
    private let quiet: UInt64
    private let state = ConditionLock(State())
    /// A copy of the state's `isReported` that is read without the lock, because every successful read needs it.
    private let isReported = Atomic(false)

    /// - Parameters:
    ///   - log: where failures are reported.
    ///   - quiet: if nothing has failed for this long, in nanoseconds, a failure has ended.
    public init(_ log: StoreLog, quiet: UInt64 = usualQuiet) { (self.log, self.quiet) = (log, quiet) }

    /// Logs a failure, unless a failure with the same code was logged less than ten seconds ago and has not ended.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - work: the work that failed.
    ///   - now: the time on the monotonic clock, in nanoseconds.
    public func note(_ error: StoreError, of work: Work, at now: UInt64) {
        let isNews = state.withLock { state in
            state.failing.insert(work)
            state.failedAt = max(now, state.failedAt)
            if let last = state.loggedAt[error.code], now < last + Self.repetition { return false }
            state.loggedAt[error.code] = now
            state.isReported = true
            isReported.store(true, ordering: .relaxed)
            return true
        }
        guard isNews else { return }
        // A request that meets a defect of the program gets 500.
        let status = error.code == .defect ? "500" : "503"
        let stop = error.explanation.hasSuffix(".") ? "" : "."
        log.write(.error, "database: \(error.explanation)\(stop) Requests get \(status) meanwhile.")
    }

    /// Records a success, and logs the end of a failure if it has ended.
    public func noteSuccess(of work: Work, at now: @autoclosure () -> UInt64) {
        guard isReported.load(ordering: .relaxed) else { return }
        let now = now()
        let isOver = state.withLock { state in
            state.failing.remove(work)
            guard state.isReported, state.failing.isEmpty, now >= state.failedAt + quiet else { return false }
            // The next failure is logged without a delay again.
            state = State()
            isReported.store(false, ordering: .relaxed)
            return true
        }
        if isOver { log.write(.information, "database: it works again.") }
    }
}
