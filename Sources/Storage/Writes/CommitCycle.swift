public import Attribution

/// Why an engine could not do what it was asked for.
public struct EngineFailure: Error, Equatable {
    public let error: StoreError
    /// Whether it is the database that failed, not the one write: nothing of the transaction can be kept.
    public let endsBatch: Bool
    /// Whether the connection can no longer be relied on.
    public let endsConnection: Bool

    public init(_ error: StoreError, endsBatch: Bool, endsConnection: Bool) {
        self.error = error
        self.endsBatch = endsBatch
        self.endsConnection = endsConnection
    }
}

/// Decides what the thread that writes does next: which writes share a transaction, and what becomes of them when
/// something fails.
///
/// A commit costs a sync to disk, whatever it holds; so writes share it (group commit). Nothing here touches a database
/// or a clock: events go in, actions come out.
///
/// ```
/// rest ─▶ begin ─▶ take ─▶ perform … ─▶ take ─▶ commit ─▶ answer ─▶ tidy ─▶ rest
///                             │ one fails
///                             ▼
///                          rollback ─▶ begin ─▶ savepoint, perform, release or undo … ─▶ take …
/// any of them fails as a whole: rollback ─▶ reopen, if the connection is lost ─▶ refuse ─▶ rest
/// ```
public struct CommitCycle: Sendable {
    /// The result of the last action.
    public enum Event: Equatable, Sendable {
        case done
        /// The batch has grown by the given number of writes.
        case taken(Int)
        /// The write was refused by its rules.
        case refused(hasChanged: Bool)
        case failed(EngineFailure)
    }

    public enum Action: Equatable, Sendable {
        case begin
        /// Adds writes that wait to the batch.
        case take(atMost: Int)
        /// Does a write of the batch, by its position.
        case perform(Int)
        case savepoint
        case release
        case undo
        case commit
        case rollback
        /// Opens another connection, and makes harmless what the last one may have left.
        case reopen
        /// Answers all writes of the batch.
        case answer
        /// Refuses one write of the batch.
        case refuse(Int, StoreError)
        /// Refuses all writes of the batch: nothing was done, and each is asked to try again.
        case refuseBatch(StoreError)
        /// Refuses all writes that wait.
        case refuseWaiting(StoreError)
        /// Lets those that wait go on waiting; those whose time is up are given this reason.
        case postpone(StoreError)
        /// Does what may follow a commit: everything of the batch is on disk.
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
        /// Another connection is opened; what is on disk by now is refused to no caller.
        case replacing(EngineFailure, isCommitted: Bool)
        case reporting
    }

    /// How long a transaction takes in what keeps arriving, in nanoseconds.
    static let gatheringNanoseconds: UInt64 = 4_000_000
    /// How long to wait before a database that could not be opened is tried again.
    static let retryNanoseconds: UInt64 = 250_000_000

    private let limit: Int
    private var phase = Phase.resting
    private var count = 0
    private var gathersUntil: UInt64 = 0
    /// When a connection that was lost may be opened again; nil while there is one.
    private var retryAt: UInt64?

    /// - Parameter limit: writes in one transaction, at most.
    public init(limit: Int) {
        self.limit = limit
    }

    /// Returns the first action for writes that wait.
    public mutating func start(at now: UInt64) -> Action {
        count = 0
        guard let retryAt else { return step(.beginning, .begin) }
        guard now >= retryAt else {
            return step(
                .reporting,
                .refuseWaiting(StoreError(.inputOutput, "the database could not be opened again yet"))
            )
        }
        return step(.reopening, .reopen)
    }

    /// Returns what follows the last action.
    ///
    /// - Parameters:
    ///   - event: what came of it.
    ///   - now: nanoseconds of the monotonic clock; asked for only where time matters.
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
            // The failure that lost the connection is the one that is reported.
            retryAt = now() + Self.retryNanoseconds
            return isCommitted ? step(.reporting, .report(first.error)) : refuse(first)
        case .performing where !failure.endsBatch: return step(.undoingAll, .rollback)
        case .performingAgain(let index) where !failure.endsBatch:
            return step(.refusing(index), .refuse(index, failure.error))
        case .tidying:
            // Everything of the batch is on disk: no write is refused for it.
            guard failure.endsConnection else { return step(.reporting, .report(failure.error)) }
            return step(.replacing(failure, isCommitted: true), .reopen)
        default: return step(.rollingBack(failure), .rollback)
        }
    }

    /// Refuses what the failure of a transaction concerns.
    private mutating func refuse(_ failure: EngineFailure) -> Action {
        guard count == 0 else { return step(.reporting, .refuseBatch(failure.error)) }
        // A lock may be gone before the time of those that wait is up: SQLite has waited a little, and is asked again.
        guard failure.error.code != .locked else { return step(.reporting, .postpone(failure.error)) }
        return step(.reporting, .refuseWaiting(failure.error))
    }

    /// Does the next write of those that were taken.
    private mutating func perform(_ index: Int) -> Action {
        step(.performing(index), .perform(index))
    }

    /// Takes in what has arrived meanwhile, within bounds.
    private mutating func gather(_ now: () -> UInt64) -> Action {
        guard count < limit, now() < gathersUntil else { return step(.committing, .commit) }
        return step(.taking, .take(atMost: limit - count))
    }

    private mutating func step(_ phase: Phase, _ action: Action) -> Action {
        self.phase = phase
        return action
    }
}
