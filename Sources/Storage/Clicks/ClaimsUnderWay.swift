internal import Attribution
internal import Threads

/// The clicks that checks of this process are claiming, and the checks that wait for these claims to end.
///
/// It is shared by all threads. The list only saves checks from claims that would lose; the database alone
/// ensures that a click is matched once.
final class ClaimsUnderWay: Sendable {
    /// A check that waits for a claim to end.
    private struct Waiter: Sendable {
        let deadline: UInt64
        /// Called once: with nil when the claim has ended, or with an error at the deadline.
        let resume: @Sendable (StoreError?) -> Void
    }

    /// The waiting checks of each claim, by the first half of the click's identifier.
    private let claims = ConditionLock<[UInt64: [Waiter]]>([:])
    private let queue: WriteQueue

    /// - Parameter queue: the queue of writes.
    init(_ queue: WriteQueue) { self.queue = queue }

    /// Claims a click and suspends the caller until the claim is on disk; returns at once if another check claims it.
    ///
    /// The claim is marked and queued in one step. So if another check sees the mark and claims another click, its
    /// claim comes later in the queue. It cannot take an earlier click of the same visit, because the first claim
    /// retires that click.
    ///
    /// - Parameters:
    ///   - request: the claim.
    ///   - deadline: the time at which the caller stops waiting, in nanoseconds of the monotonic clock.
    /// - Returns: the outcome.
    /// - Throws: the refusal; after a timeout the claim may still be committed.
    func claim(_ request: ClaimRequest, until deadline: UInt64) async throws(StoreError)
        -> ClaimOutcome
    {
        let click = request.click
        // The continuation is resumed exactly once: here, or by the write's completion.
        let written = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Written, Never>) in
            let write = QueuedWrite(
                .claim(request),
                deadline: deadline,
                whenEnded: { [self] in end(click) },
                completion: { unsafe continuation.resume(returning: $0) }
            )
            if let refusal = begin(write, of: click) { unsafe continuation.resume(returning: refusal) }
        }
        switch written {
        case .claim(let claim): return claim.outcome
        case .refused(let error): throw error
        default: throw .mismatch
        }
    }

    /// Marks the claim, queues it and returns nil; returns the outcome if that is not possible.
    private func begin(_ write: QueuedWrite, of click: ClickID) -> Written? {
        claims.withLock { claims in
            guard claims[click.high] == nil else { return .claim(WrittenClaim(outcome: .underWay(click))) }
            if let error = queue.enqueue(write) { return .refused(error) }
            claims[click.high] = []
            return nil
        }
    }

    /// Whether a click is being claimed.
    func contains(_ click: ClickID) -> Bool { claims.withLock { $0[click.high] != nil } }

    /// Marks the candidates that are being claimed as claimed.
    func mark(_ evidence: inout CandidateEvidence, at now: Timestamp) {
        claims.withLock { claims in
            for index in evidence.candidates.indices
            where evidence.candidates[index].claimedAt == nil
                && claims[evidence.candidates[index].click.high] != nil
            { evidence.candidates[index].claimedAt = now }
        }
    }

    /// Suspends the caller until the claim of a click is committed, or can no longer be committed.
    ///
    /// A claim whose caller got `timedOut` has not ended: it may still be committed.
    ///
    /// - Parameters:
    ///   - click: the click; returns at once if no check is claiming it.
    ///   - deadline: the time at which the caller stops waiting, in nanoseconds of the monotonic clock.
    /// - Throws: `timedOut` at the deadline.
    func waitForEnd(of click: ClickID, until deadline: UInt64) async throws(StoreError) {
        // The continuation is resumed exactly once: here, or when the waiter is removed.
        let error = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<StoreError?, Never>) in
            let waiter = Waiter(deadline: deadline) { unsafe continuation.resume(returning: $0) }
            let isUnderWay = claims.withLock { claims in
                guard claims[click.high] != nil else { return false }
                claims[click.high]?.append(waiter)
                return true
            }
            if !isUnderWay { unsafe continuation.resume(returning: nil) }
        }
        if let error { throw error }
    }

    /// Ends a claim that is committed and answered, or can no longer be done.
    private func end(_ click: ClickID) {
        let waiters = claims.withLock { $0.removeValue(forKey: click.high) }
        for waiter in waiters ?? [] { waiter.resume(nil) }
    }

    /// Refuses the waiting checks whose deadline has passed.
    func expire(at now: UInt64) {
        let late = claims.withLock { claims in
            var late: [Waiter] = []
            for (click, waiters) in claims where waiters.contains(where: { $0.deadline <= now }) {
                late += waiters.filter { $0.deadline <= now }
                claims[click] = waiters.filter { $0.deadline > now }
            }
            return late
        }
        for waiter in late { waiter.resume(.late) }
    }
}
