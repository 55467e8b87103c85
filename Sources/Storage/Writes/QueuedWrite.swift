internal import Attribution
internal import Synchronization

/// A queued write and its caller's completion.
///
/// It is sendable: only the thread that writes uses `written`, from the time at which it takes the write from the queue
/// until it answers the write. Everything else is immutable or atomic.
final class QueuedWrite: @unchecked Sendable {
    /// The time at which its caller stops waiting, in nanoseconds of the monotonic clock.
    let deadline: UInt64
    let write: Write
    /// The outcome in the open transaction; nil before the write is performed.
    var written: Written?
    private let completion: @Sendable (Written) -> Void
    private let whenEnded: (@Sendable () -> Void)?
    private let isAnswered = Atomic(false)

    /// - Parameters:
    ///   - write: the change.
    ///   - deadline: the time at which its caller stops waiting, in nanoseconds of the monotonic clock.
    ///   - whenEnded: called once, when the write is answered or can no longer be done. After a timeout this is later than
    ///     the completion.
    ///   - completion: called once, on any thread.
    init(
        _ write: Write,
        deadline: UInt64 = .max,
        whenEnded: (@Sendable () -> Void)? = nil,
        completion: @escaping @Sendable (Written) -> Void
    ) {
        (self.write, self.deadline) = (write, deadline)
        (self.whenEnded, self.completion) = (whenEnded, completion)
    }

    /// Passes the outcome, which is on disk now, to the caller.
    ///
    /// - Returns: the outcome if it came too late, because the caller was refused before; else nil.
    func answer() -> Written? {
        guard let written else {
            refuse(StoreError(.defect, "a write was answered before it was done"))
            return nil
        }
        guard takeAnswer() else { return written }
        completion(written)
        return nil
    }

    /// Refuses a write that was not done; returns false if it was answered before.
    @discardableResult
    func refuse(_ error: StoreError) -> Bool {
        guard takeAnswer() else { return false }
        completion(.refused(error))
        return true
    }

    /// Whether its caller was refused, or has its outcome.
    var isEnded: Bool { isAnswered.load(ordering: .acquiring) }

    /// Calls `whenEnded`, after the write was answered or withdrawn.
    func end() { whenEnded?() }

    /// Returns true at the first call: the writing thread and the thread of deadlines may both try to answer.
    private func takeAnswer() -> Bool {
        isAnswered.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
