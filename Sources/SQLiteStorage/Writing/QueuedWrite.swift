internal import Attribution
internal import SQLite
internal import Synchronization

/// A write on its way through the queue, seen from the writer.
protocol QueuedWrite: AnyObject, Sendable {
    /// When its caller stops waiting, in nanoseconds of CLOCK_MONOTONIC.
    var deadline: UInt64 { get }
    /// Does the work within the open transaction and keeps the outcome. Runs again from the start when the
    /// batch has to be done over.
    ///
    /// - Returns: false when the work was refused and its changes are to be undone.
    func perform(in context: WriteContext) throws(SQLiteError) -> Bool
    /// Tells the caller the outcome, which is on disk now.
    func answer()
    /// Tells the caller that nothing was done. False when it was told something before.
    @discardableResult func refuse(_ error: StoreError) -> Bool
}

/// A write and who waits for it.
///
/// Sendable, because `outcome` is only touched by the writer's thread, between taking the write from the queue
/// and answering it, and everything else is immutable or atomic.
final class PendingWrite<Outcome: Sendable>: QueuedWrite, @unchecked Sendable {
    typealias Body = @Sendable (WriteContext) throws(SQLiteError) -> Result<Outcome, StoreError>
    typealias Completion = @Sendable (Result<Outcome, StoreError>) -> Void

    let deadline: UInt64
    private let body: Body
    private let completion: Completion
    private let whenLate: (@Sendable (Outcome) -> Void)?
    private let isAnswered = Atomic(false)
    private var outcome: Result<Outcome, StoreError>?

    /// `whenLate` is called on the writer's thread when the outcome is on disk and the caller was told `timedOut`.
    init(
        deadline: UInt64,
        body: @escaping Body,
        whenLate: (@Sendable (Outcome) -> Void)? = nil,
        completion: @escaping Completion
    ) {
        self.deadline = deadline
        self.body = body
        self.whenLate = whenLate
        self.completion = completion
    }

    func perform(in context: WriteContext) throws(SQLiteError) -> Bool {
        outcome = nil
        let outcome = try body(context)
        self.outcome = outcome
        if case .failure = outcome { return false }
        return true
    }

    func answer() {
        guard let outcome else {
            _ = refuse(StoreError(.defect, "a write was answered before it was done"))
            return
        }
        if takeAnswer() {
            completion(outcome)
        } else if case .success(let value) = outcome {
            whenLate?(value)
        }
    }

    func refuse(_ error: StoreError) -> Bool {
        guard takeAnswer() else { return false }
        completion(.failure(error))
        return true
    }

    /// True for the first to ask: the writer and the watchdog may come at the same time.
    private func takeAnswer() -> Bool {
        isAnswered.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
