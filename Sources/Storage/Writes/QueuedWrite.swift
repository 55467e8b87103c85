internal import Attribution
internal import Synchronization

/// A write on its way through the queue, and the caller that waits for it.
///
/// Sendable, because `written` is only touched by the thread that writes, between taking the write from the queue and
/// answering it, and everything else is immutable or atomic.
public final class QueuedWrite: @unchecked Sendable {
    /// When its caller stops waiting, in nanoseconds of the monotonic clock.
    let deadline: UInt64
    let write: Write
    /// The outcome in the open transaction; nil before the engine has done it.
    var written: Written?
    private let completion: @Sendable (Written) -> Void
    private let whenEnded: (@Sendable () -> Void)?
    private let isAnswered = Atomic(false)

    /// - Parameters:
    ///   - write: what is to be done.
    ///   - deadline: when its caller stops waiting, in nanoseconds of the monotonic clock.
    ///   - whenEnded: called once, when the write is answered, or can no longer be done: where its time was up, that is
    ///     later than the completion.
    ///   - completion: called once, on any thread.
    public init(
        _ write: Write,
        deadline: UInt64 = .max,
        whenEnded: (@Sendable () -> Void)? = nil,
        completion: @escaping @Sendable (Written) -> Void
    ) {
        self.write = write
        self.deadline = deadline
        self.whenEnded = whenEnded
        self.completion = completion
    }

    /// Returns the outcome, which is on disk now, to the caller.
    ///
    /// - Returns: the outcome where it came too late, because the caller was refused before.
    func answer() -> Written? {
        guard let written else {
            refuse(StoreError(.defect, "a write was answered before it was done"))
            return nil
        }
        guard takeAnswer() else { return written }
        completion(written)
        return nil
    }

    /// Refuses the write, of which nothing was done; false when it was answered before.
    @discardableResult
    func refuse(_ error: StoreError) -> Bool {
        guard takeAnswer() else { return false }
        completion(.refused(error))
        return true
    }

    /// Ends the write, after it was answered or refused for good.
    func end() { whenEnded?() }

    /// True for the first to ask: the thread that writes and the one that watches deadlines may come at the same time.
    private func takeAnswer() -> Bool {
        isAnswered.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }
}
