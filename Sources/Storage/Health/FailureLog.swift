public import Attribution
internal import Synchronization
internal import Threads

/// Says each kind of trouble once, then at most every ten seconds for as long as it lasts, and once that it is over.
///
/// All threads of a store share one: a failure of several of them is reported once. It is over when each kind of work
/// that failed has been done again, and nothing has failed for a second: a disk that is full takes a small write now
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
        /// Whether a failure was reported, and its end not yet.
        var isReported = false
    }

    /// In nanoseconds.
    private static let repetition: UInt64 = 10_000_000_000
    /// In nanoseconds.
    public static let usualQuiet: UInt64 = 1_000_000_000

    private let log: StoreLog
    private let quiet: UInt64
    private let state = ConditionLock(State())
    /// The state's `isReported`, for work that succeeds millions of times and asks each time.
    private let isReported = Atomic(false)

    /// - Parameters:
    ///   - log: where failures are reported.
    ///   - quiet: how long nothing may have failed before trouble is over, in nanoseconds.
    public init(_ log: StoreLog, quiet: UInt64 = usualQuiet) {
        self.log = log
        self.quiet = quiet
    }

    /// - Parameters:
    ///   - error: why it failed.
    ///   - work: what failed.
    ///   - now: on the monotonic clock, in nanoseconds.
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

    /// Says that what was noted before is over, if it is.
    public func noteSuccess(of work: Work, at now: @autoclosure () -> UInt64) {
        guard isReported.load(ordering: .relaxed) else { return }
        let now = now()
        let isOver = state.withLock { state in
            state.failing.remove(work)
            guard state.isReported, state.failing.isEmpty, now >= state.failedAt + quiet else {
                return false
            }
            // The next trouble is news again.
            state = State()
            isReported.store(false, ordering: .relaxed)
            return true
        }
        if isOver { log.write(.information, "database: it works again.") }
    }
}
