public import Attribution
internal import Synchronization
internal import Threads

/// Logs each kind of failure once, then at most every ten seconds while it lasts, and logs its end once.
///
/// All threads of a store share one log, so a failure of several threads is logged once. A failure has ended when each
/// kind of work that failed has succeeded, and nothing has failed for a second: a full disk still takes a small write now
/// and then.
public final class FailureLog: Sendable {
    /// A kind of work, which may fail while the others succeed.
    public enum Work: Hashable, Sendable {
        case reading
        case writing
        case job(JobName)
    }

    private struct State: Sendable {
        var saidAt: [StoreError.Code: UInt64] = [:]
        var failing: Set<Work> = []
        var failedAt: UInt64 = 0
        /// Whether a failure was logged and its end was not.
        var isReported = false
    }

    /// In nanoseconds.
    private static let repetition: UInt64 = 10_000_000_000
    /// In nanoseconds.
    public static let usualQuiet: UInt64 = 1_000_000_000

    private let log: StoreLog
    private let quiet: UInt64
    private let state = ConditionLock(State())
    /// A copy of the state's `isReported` without the lock, because every read that succeeds asks for it.
    private let isReported = Atomic(false)

    /// - Parameters:
    ///   - log: where failures are reported.
    ///   - quiet: how long nothing may have failed before a failure has ended, in nanoseconds.
    public init(_ log: StoreLog, quiet: UInt64 = usualQuiet) { (self.log, self.quiet) = (log, quiet) }

    /// Logs a failure, unless the same one was logged just before.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - work: the work that failed.
    ///   - now: the time on the monotonic clock, in nanoseconds.
    public func note(_ error: StoreError, of work: Work, at now: UInt64) {
        let isNews = state.withLock { state in
            state.failing.insert(work)
            state.failedAt = max(now, state.failedAt)
            if let last = state.saidAt[error.code], now < last + Self.repetition { return false }
            state.saidAt[error.code] = now
            state.isReported = true
            isReported.store(true, ordering: .relaxed)
            return true
        }
        guard isNews else { return }
        // A defect is reported as one.
        let answer = error.code == .defect ? "500" : "503"
        log.write(.error, "database: \(error.explanation) Requests are answered \(answer) meanwhile.")
    }

    /// Records a success, and logs the end of a failure if it has ended.
    public func noteSuccess(of work: Work, at now: @autoclosure () -> UInt64) {
        guard isReported.load(ordering: .relaxed) else { return }
        let now = now()
        let isOver = state.withLock { state in
            state.failing.remove(work)
            guard state.isReported, state.failing.isEmpty, now >= state.failedAt + quiet else { return false }
            // The next failure is logged at once again.
            state = State()
            isReported.store(false, ordering: .relaxed)
            return true
        }
        if isOver { log.write(.information, "database: it works again.") }
    }
}
