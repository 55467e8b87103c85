public import Attribution

/// Decides the next step of the thread that writes: which writes share a transaction, and which are refused when a step
/// fails.
///
/// Each commit costs a sync to disk, so writes share one (group commit). The cycle has no database and no clock: it takes
/// events and returns actions.
///
/// ```
/// rest ─▶ begin ─▶ take ─▶ prepare ─▶ perform … ─▶ take ─▶ commit ─▶ answer ─▶ tidy ─▶ rest
///                                        │ one fails
///                                        ▼
///                rollback ─▶ begin ─▶ savepoint, prepare, perform, release or undo … ─▶ take …
/// a step fails for the whole batch: rollback ─▶ reopen, if the connection is lost ─▶ refuse ─▶ rest
///            and the batch may be repeated: … ─▶ begin ─▶ prepare ─▶ perform …, twice; then one write after the other
/// commit fails, but may have stored the batch: doubt ─▶ reopen ─▶ answer, refuseUnseen, refuse or repeat
///                                                       ▲   │ fails
///                                                       └─ pause
/// ```
public struct CommitCycle: Sendable {
    /// The result of the last action.
    public enum Event: Equatable, Sendable {
        case done
        /// The batch has grown by the given number of writes.
        case taken(Int)
        /// The rules of the write refused it; `hasChanged` is whether the write had changed rows before the refusal.
        case refused(hasChanged: Bool)
        /// Another connection is open.
        case reopened(TransactionFate)
        case failed(EngineFailure)
    }

    public enum Action: Equatable, Sendable {
        case begin
        /// Adds waiting writes to the batch.
        case take(atMost: Int)
        /// Reads ahead for writes of the batch, by their positions.
        case prepare(Range<Int>)
        /// Does a write of the batch, by its position.
        case perform(Int)
        case savepoint
        case release
        case undo
        case commit
        case rollback
        /// Opens another connection, and ends the transaction of the last one.
        case reopen
        /// Answers all writes of the batch.
        case answer
        /// Refuses one write of the batch.
        case refuse(Int, StoreError)
        /// Refuses all writes of the batch, none of which was done.
        case refuseBatch(StoreError)
        /// Refuses the batch's writes with a deadline, and answers the store's own writes, which have none.
        ///
        /// All these writes were done, but readers may not see them yet.
        case refuseUnseen(StoreError)
        /// Refuses all waiting writes.
        case refuseWaiting(StoreError)
        /// Keeps waiting writes queued, and stores the reason for writes that pass their deadline.
        case postpone(StoreError)
        /// Does the work that may follow a commit; the batch is on disk.
        case tidy
        /// Reports a failure that refuses no write.
        case report(StoreError)
        /// Reports that it is unknown whether the batch is committed; its writes stay unanswered.
        case doubt(StoreError)
        /// Waits for a number of nanoseconds, while the writes of the batch stay unanswered.
        case pause(UInt64)
        /// Waits for work.
        case rest
    }

    /// What follows after the transaction was rolled back, and the connection replaced if it was lost.
    private enum Sequel: Equatable, Sendable {
        case refusal
        /// The whole batch is done again; if it is empty, a new transaction takes the waiting writes.
        case repetition
        /// Each write is done within a savepoint, so that only those that fail are refused.
        case oneByOne
        /// The failure is only reported, because the batch is committed.
        case report
    }

    private enum Phase: Equatable, Sendable {
        case resting
        /// The connection is opened again before the first write.
        case reopening
        case beginning
        case taking
        case preparing(Int)
        case performing(Int)
        case undoingAll
        case repeating
        case beginningAgain
        case placing(Int)
        case preparingAgain(Int)
        case performingAgain(Int)
        case releasing(Int)
        case refusing(Int)
        case undoing(Int)
        case committing
        case answering
        case tidying
        case rollingBack(EngineFailure, Sequel)
        /// Another connection is being opened.
        case replacing(EngineFailure, Sequel)
        /// It is unknown whether the batch is committed; the cycle reports this.
        case doubting(EngineFailure)
        /// Another connection is being opened, which finds out whether the batch is committed.
        case asking(EngineFailure)
        /// The cycle waits before it opens the next connection for ``asking(_:)``.
        case pausing(EngineFailure)
        case reporting
    }

    /// How long to wait before a database that could not be opened is tried again, in nanoseconds.
    static let retryNanoseconds: UInt64 = 250_000_000
    /// How often a batch that may be repeated is repeated as a whole.
    static let maximumRepetitions = 2

    private let limit: Int
    private let gatheringNanoseconds: UInt64
    private var phase = Phase.resting
    private var count = 0
    private var gathersUntil: UInt64 = 0
    /// How often the batch was repeated: as a whole, and then once with its writes one by one.
    private var repetitions = 0
    /// When a lost connection may be opened again, in nanoseconds; nil while the connection works.
    private var retryAt: UInt64?

    /// - Parameters:
    ///   - limit: the maximum number of writes in one transaction.
    ///   - gatheringNanoseconds: how long a transaction takes further writes; 0 if it takes writes only at its beginning.
    public init(limit: Int, gatheringNanoseconds: UInt64 = FileRules.gatheringNanoseconds) {
        (self.limit, self.gatheringNanoseconds) = (limit, gatheringNanoseconds)
    }

    /// Returns the first action for waiting writes.
    public mutating func start(at now: UInt64) -> Action {
        (count, repetitions) = (0, 0)
        guard let retryAt else { return step(.beginning, .begin) }
        guard now >= retryAt else {
            let error = StoreError(.inputOutput, "the database could not be opened again yet")
            return step(.reporting, .refuseWaiting(error))
        }
        return step(.reopening, .reopen)
    }

    /// Returns the action after the last one.
    ///
    /// - Parameters:
    ///   - event: the result of the last action.
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
            gathersUntil = now() + gatheringNanoseconds
            return step(.taking, .take(atMost: limit))
        case .taking:
            guard case .taken(let more) = event, more > 0 else { return step(.committing, .commit) }
            count += more
            return prepare(from: count - more)
        case .preparing(let index): return perform(index)
        case .performing(let index):
            if case .refused(hasChanged: true) = event { return step(.undoingAll, .rollback) }
            return index + 1 < count ? perform(index + 1) : gather(now)
        case .undoingAll: return step(.beginningAgain, .begin)
        case .repeating: return prepare(from: 0)
        case .beginningAgain: return step(.placing(0), .savepoint)
        case .placing(let index): return step(.preparingAgain(index), .prepare(index..<index + 1))
        case .preparingAgain(let index): return step(.performingAgain(index), .perform(index))
        case .performingAgain(let index):
            if case .refused = event { return step(.undoing(index), .undo) }
            return step(.releasing(index), .release)
        case .refusing(let index): return step(.undoing(index), .undo)
        case .releasing(let index), .undoing(let index):
            return index + 1 < count ? step(.placing(index + 1), .savepoint) : gather(now)
        case .committing: return step(.answering, .answer)
        case .answering: return step(.tidying, .tidy)
        case .rollingBack(let failure, let sequel):
            guard failure.endsConnection else { return follow(sequel, failure) }
            return step(.replacing(failure, sequel), .reopen)
        case .replacing(let failure, let sequel):
            retryAt = nil
            return follow(sequel, failure)
        case .doubting(let failure), .pausing(let failure): return step(.asking(failure), .reopen)
        case .asking(let failure):
            switch event {
            case .reopened(.committed): return step(.answering, .answer)
            case .reopened(.unseen): return step(.reporting, .refuseUnseen(failure.error))
            default: return follow(sequel(of: failure), failure)
            }
        case .tidying, .reporting: return step(.resting, .rest)
        }
    }

    private mutating func failed(_ failure: EngineFailure, _ now: () -> UInt64) -> Action {
        switch phase {
        case .reopening:
            retryAt = now() + Self.retryNanoseconds
            return step(.reporting, .refuseWaiting(failure.error))
        case .replacing(let first, let sequel):
            // Callers get the failure that lost the connection, and not the failure to open another.
            retryAt = now() + Self.retryNanoseconds
            return follow(sequel == .report ? .report : .refusal, first)
        case .committing where failure.isInDoubt && count > 0:
            return step(.doubting(failure), .doubt(failure.error))
        case .asking(let first): return step(.pausing(first), .pause(Self.retryNanoseconds))
        case .preparing, .performing:
            guard !failure.endsBatch, !failure.mayRepeat else { break }
            return step(.undoingAll, .rollback)
        case .preparingAgain(let index), .performingAgain(let index), .releasing(let index):
            guard !failure.endsBatch else { break }
            return step(.refusing(index), .refuse(index, failure.error))
        case .tidying:
            // The batch is on disk, so none of its writes is refused.
            guard failure.endsConnection else { return step(.reporting, .report(failure.error)) }
            return step(.replacing(failure, .report), .reopen)
        default: break
        }
        return step(.rollingBack(failure, sequel(of: failure)), .rollback)
    }

    /// Returns what follows after a failure of the whole batch, and counts the repetition.
    private mutating func sequel(of failure: EngineFailure) -> Sequel {
        // If ``repetitions`` is above the maximum, the writes were done one by one already, and nothing is repeated.
        guard failure.mayRepeat, repetitions <= Self.maximumRepetitions else { return .refusal }
        repetitions += 1
        guard repetitions > Self.maximumRepetitions else { return .repetition }
        return count > 0 ? .oneByOne : .refusal
    }

    private mutating func follow(_ sequel: Sequel, _ failure: EngineFailure) -> Action {
        switch sequel {
        case .refusal: refuse(failure)
        case .repetition: count > 0 ? step(.repeating, .begin) : step(.beginning, .begin)
        case .oneByOne: step(.beginningAgain, .begin)
        case .report: step(.reporting, .report(failure.error))
        }
    }

    /// Refuses the batch of a transaction that failed; if the batch is empty, refuses or postpones all waiting writes.
    private mutating func refuse(_ failure: EngineFailure) -> Action {
        guard count == 0 else { return step(.reporting, .refuseBatch(failure.error)) }
        // The lock may clear before the deadlines of the waiting writes, so they stay queued.
        guard failure.error.code != .locked else { return step(.reporting, .postpone(failure.error)) }
        return step(.reporting, .refuseWaiting(failure.error))
    }

    /// Reads ahead for the writes of the batch from a position on, which are done next.
    private mutating func prepare(from index: Int) -> Action {
        step(.preparing(index), .prepare(index..<count))
    }

    /// Does a write of the batch.
    private mutating func perform(_ index: Int) -> Action { step(.performing(index), .perform(index)) }

    /// Takes the writes that have arrived meanwhile, or commits if the batch is full or old.
    private mutating func gather(_ now: () -> UInt64) -> Action {
        guard count < limit, gatheringNanoseconds > 0, now() < gathersUntil else {
            return step(.committing, .commit)
        }
        return step(.taking, .take(atMost: limit - count))
    }

    private mutating func step(_ phase: Phase, _ action: Action) -> Action {
        self.phase = phase
        return action
    }
}
