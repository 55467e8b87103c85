public import Attribution

/// The failure of an engine's step.
public struct EngineFailure: Error, Equatable {
    public let error: StoreError
    /// Whether the whole transaction has failed, and not only one of its writes.
    public let endsBatch: Bool
    /// Whether the connection can no longer be relied on.
    public let endsConnection: Bool

    public init(_ error: StoreError, endsBatch: Bool, endsConnection: Bool) {
        (self.error, self.endsBatch, self.endsConnection) = (error, endsBatch, endsConnection)
    }
}

/// Decides the next step of the thread that writes: which writes share a transaction, and which are refused when a step
/// fails.
///
/// Each commit costs a sync to disk, so writes share one (group commit). The cycle has no database and no clock: it takes
/// events and returns actions.
///
/// ```
/// rest ─▶ begin ─▶ take ─▶ perform … ─▶ take ─▶ commit ─▶ answer ─▶ tidy ─▶ rest
///                             │ one fails
///                             ▼
///                          rollback ─▶ begin ─▶ savepoint, perform, release or undo … ─▶ take …
/// a step fails for the whole batch: rollback ─▶ reopen, if the connection is lost ─▶ refuse ─▶ rest
/// ```
public struct CommitCycle: Sendable {
    /// The result of the last action.
    public enum Event: Equatable, Sendable {
        case done
        /// The batch has grown by the given number of writes.
        case taken(Int)
        /// The rules of the write refused it; `hasChanged` is whether it changed rows before.
        case refused(hasChanged: Bool)
        case failed(EngineFailure)
    }

    public enum Action: Equatable, Sendable {
        case begin
        /// Adds waiting writes to the batch.
        case take(atMost: Int)
        /// Does a write of the batch, by its position.
        case perform(Int)
        case savepoint
        case release
        case undo
        case commit
        case rollback
        /// Opens another connection, and overwrites what the last one may have left on disk.
        case reopen
        /// Answers all writes of the batch.
        case answer
        /// Refuses one write of the batch.
        case refuse(Int, StoreError)
        /// Refuses all writes of the batch, none of which was done.
        case refuseBatch(StoreError)
        /// Refuses all waiting writes.
        case refuseWaiting(StoreError)
        /// Keeps waiting writes queued, and stores the reason for those that pass their deadline.
        case postpone(StoreError)
        /// Does the work that may follow a commit; the batch is on disk.
        case tidy
        /// Reports a failure that refuses no write.
        case report(StoreError)
        /// Waits for work.
        case rest
    }

    private enum Phase: Equatable, Sendable {
        case resting
        /// The connection is opened again before the first write.
        case reopening
        case beginning
        case taking
        case performing(Int)
        case undoingAll
        case beginningAgain
        case placing(Int)
        case performingAgain(Int)
        case releasing(Int)
        case refusing(Int)
        case undoing(Int)
        case committing
        case answering
        case tidying
        case rollingBack(EngineFailure)
        /// Another connection is being opened; writes that are committed are not refused.
        case replacing(EngineFailure, isCommitted: Bool)
        case reporting
    }

    /// How long a transaction takes further writes, in nanoseconds.
    static let gatheringNanoseconds: UInt64 = 4_000_000
    /// How long to wait before a database that could not be opened is tried again, in nanoseconds.
    static let retryNanoseconds: UInt64 = 250_000_000

    private let limit: Int
    private var phase = Phase.resting
    private var count = 0
    private var gathersUntil: UInt64 = 0
    /// When a lost connection may be opened again, in nanoseconds; nil while the connection works.
    private var retryAt: UInt64?

    /// - Parameter limit: the maximum number of writes in one transaction.
    public init(limit: Int) { self.limit = limit }

    /// Returns the first action for waiting writes.
    public mutating func start(at now: UInt64) -> Action {
        count = 0
        guard let retryAt else { return step(.beginning, .begin) }
        guard now >= retryAt else {
            let error = StoreError(.inputOutput, "the database could not be opened again yet")
            return step(.reporting, .refuseWaiting(error))
        }
        return step(.reopening, .reopen)
    }

    /// Returns what follows the last action.
    ///
    /// - Parameters:
    ///   - event: its result.
    ///   - now: nanoseconds of the monotonic clock; evaluated only where the time matters.
    /// - Returns: the next action; ``Action/rest`` ends the cycle.
    public mutating func next(_ event: Event, at now: @autoclosure () -> UInt64) -> Action {
        if case .failed(let failure) = event { return failed(failure, now) }
        switch phase {
        case .resting: return .rest
        case .reopening:
            retryAt = nil
            return step(.beginning, .begin)
        case .beginning:
            gathersUntil = now() + Self.gatheringNanoseconds
            return step(.taking, .take(atMost: limit))
        case .taking:
            guard case .taken(let more) = event, more > 0 else { return step(.committing, .commit) }
            count += more
            return perform(count - more)
        case .performing(let index):
            if case .refused(hasChanged: true) = event { return step(.undoingAll, .rollback) }
            return index + 1 < count ? perform(index + 1) : gather(now)
        case .undoingAll: return step(.beginningAgain, .begin)
        case .beginningAgain: return step(.placing(0), .savepoint)
        case .placing(let index): return step(.performingAgain(index), .perform(index))
        case .performingAgain(let index):
            if case .refused = event { return step(.undoing(index), .undo) }
            return step(.releasing(index), .release)
        case .refusing(let index): return step(.undoing(index), .undo)
        case .releasing(let index), .undoing(let index):
            return index + 1 < count ? step(.placing(index + 1), .savepoint) : gather(now)
        case .committing: return step(.answering, .answer)
        case .answering: return step(.tidying, .tidy)
        case .rollingBack(let failure):
            guard failure.endsConnection else { return refuse(failure) }
            return step(.replacing(failure, isCommitted: false), .reopen)
        case .replacing(let failure, let isCommitted):
            retryAt = nil
            return isCommitted ? step(.reporting, .report(failure.error)) : refuse(failure)
        case .tidying, .reporting: return step(.resting, .rest)
        }
    }

    private mutating func failed(_ failure: EngineFailure, _ now: () -> UInt64) -> Action {
        switch phase {
        case .reopening:
            retryAt = now() + Self.retryNanoseconds
            return step(.reporting, .refuseWaiting(failure.error))
        case .replacing(let first, let isCommitted):
            // Callers get the failure that lost the connection, and not the failure to open another.
            retryAt = now() + Self.retryNanoseconds
            return isCommitted ? step(.reporting, .report(first.error)) : refuse(first)
        case .performing where !failure.endsBatch: return step(.undoingAll, .rollback)
        case .performingAgain(let index) where !failure.endsBatch:
            return step(.refusing(index), .refuse(index, failure.error))
        case .tidying:
            // The batch is on disk, so none of its writes is refused.
            guard failure.endsConnection else { return step(.reporting, .report(failure.error)) }
            return step(.replacing(failure, isCommitted: true), .reopen)
        default: return step(.rollingBack(failure), .rollback)
        }
    }

    /// Refuses the batch of a transaction that failed; if the batch is empty, refuses or postpones all waiting writes.
    private mutating func refuse(_ failure: EngineFailure) -> Action {
        guard count == 0 else { return step(.reporting, .refuseBatch(failure.error)) }
        // The lock may clear before the deadlines of the waiting writes, so they stay queued.
        guard failure.error.code != .locked else { return step(.reporting, .postpone(failure.error)) }
        return step(.reporting, .refuseWaiting(failure.error))
    }

    /// Does a write of the batch.
    private mutating func perform(_ index: Int) -> Action { step(.performing(index), .perform(index)) }

    /// Takes the writes that have arrived meanwhile, or commits if the batch is full or old.
    private mutating func gather(_ now: () -> UInt64) -> Action {
        guard count < limit, now() < gathersUntil else { return step(.committing, .commit) }
        return step(.taking, .take(atMost: limit - count))
    }

    private mutating func step(_ phase: Phase, _ action: Action) -> Action {
        self.phase = phase
        return action
    }
}
