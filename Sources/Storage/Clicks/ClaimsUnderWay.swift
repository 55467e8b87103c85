public import Attribution
internal import Threads

/// The clicks that checks of this process are claiming, and the checks that stand in line for them.
///
/// Shared by all threads. It makes progress fair, and is no part of the promise that a click is matched once, which the
/// database keeps: where it were lost, nothing wrong would be answered.
public final class ClaimsUnderWay: Sendable {
    /// A check that waits for a claim to end.
    private struct Waiter: Sendable {
        let deadline: UInt64
        /// Called once, with the reason where its time was up.
        let resume: @Sendable (StoreError?) -> Void
    }

    /// By the first half of the click's identifier: those that wait for each.
    private let claims = ConditionLock<[UInt64: [Waiter]]>([:])
    private let queue: WriteQueue

    /// - Parameter queue: where claims are written.
    public init(_ queue: WriteQueue) {
        self.queue = queue
    }

    /// Claims a click, and suspends the caller until that is on disk; returns at once where the click is under way.
    ///
    /// The claim is marked and queued in one step. So a check that leaves a click out because it is under way writes after
    /// it, and cannot take an earlier click of the same visit before that is retired.
    ///
    /// - Parameters:
    ///   - request: what is to be claimed.
    ///   - deadline: when the caller stops waiting, in nanoseconds of the monotonic clock.
    /// - Returns: what came of it.
    /// - Throws: why nothing is known of it.
    public func claim(_ request: ClaimRequest, until deadline: UInt64) async throws(StoreError)
        -> ClaimOutcome
    {
        let click = request.click
        // Resumed exactly once: here, or by the write's completion.
        let written = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Written, Never>) in
            let write = QueuedWrite(
                .claim(request),
                deadline: deadline,
                whenEnded: { [self] in end(click) },
                completion: { unsafe continuation.resume(returning: $0) }
            )
            if let refusal = begin(write, of: click) {
                unsafe continuation.resume(returning: refusal)
            }
        }
        switch written {
        case .claim(let claim): return claim.outcome
        case .refused(let error): throw error
        default: throw .mismatch
        }
    }

    /// Marks the claim and queues it; returns what became of it where that cannot be.
    private func begin(_ write: QueuedWrite, of click: ClickID) -> Written? {
        claims.withLock { claims in
            guard claims[click.high] == nil else { return .claim(WrittenClaim(.underWay(click))) }
            if let error = queue.enqueue(write) { return .refused(error) }
            claims[click.high] = []
            return nil
        }
    }

    /// Whether a click is being claimed.
    public func contains(_ click: ClickID) -> Bool {
        claims.withLock { $0[click.high] != nil }
    }

    /// Marks candidates as claimed at a time that are being claimed.
    public func mark(_ evidence: inout CandidateEvidence, at now: Timestamp) {
        claims.withLock { claims in
            for index in evidence.candidates.indices
            where evidence.candidates[index].claimedAt == nil
                && claims[evidence.candidates[index].click.high] != nil
            {
                evidence.candidates[index].claimedAt = now
            }
        }
    }

    /// Suspends the caller until the claim of a click has truly ended.
    ///
    /// A caller that was refused because its time was up does not end its claim: that may still come to disk.
    ///
    /// - Parameters:
    ///   - click: which is being claimed; returns at once where it is not.
    ///   - deadline: when the caller stops waiting, in nanoseconds of the monotonic clock.
    /// - Throws: when the time is up.
    public func waitForEnd(of click: ClickID, until deadline: UInt64) async throws(StoreError) {
        // Resumed exactly once: here, or by whatever takes the waiter out.
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

    /// Ends a claim: it is committed and answered, or will never be done.
    private func end(_ click: ClickID) {
        let waiters = claims.withLock { $0.removeValue(forKey: click.high) }
        for waiter in waiters ?? [] { waiter.resume(nil) }
    }

    /// Refuses the checks in line whose deadline has passed.
    public func expire(at now: UInt64) {
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
