internal import Attribution
internal import Threads

/// Runs reads that would block a loop for too long: one after the other, on one thread with its own connection.
final class BackgroundReader<Backend: StorageBackend>: Sendable {
    typealias Reader = Backend.Reader

    /// A queued read; exactly one of its two closures is called, once.
    private struct Question: Sendable {
        /// Reads on the background thread; returns why the read failed.
        let answer: @Sendable (inout Reader?) -> StoreError?
        let refuse: @Sendable (StoreError) -> Void
    }
    private struct State: Sendable {
        var waiting: [Question] = []
        var isStopping = false
    }

    private let state = ConditionLock(State())
    private let backend: Backend

    /// The maximum number of queued reads.
    private static var queueLimit: Int { 16 }

    init(_ backend: Backend) { self.backend = backend }

    /// Runs reads until the store stops, then refuses the reads that are still queued.
    ///
    /// If a read cannot reach the database, the queued reads are refused too: each would wait as long as this one did.
    func run() {
        var reader: Reader?
        while let question = next() {
            if let error = question.answer(&reader), error.code == .unreachable { refuseWaiting(error) }
        }
        refuseWaiting(Self.stopping)
    }

    private func refuseWaiting(_ error: StoreError) {
        let left = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for question in left { question.refuse(error) }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        state.broadcast()
    }

    /// Waits for the next read; nil when the store stops.
    private func next() -> Question? {
        let next = state.wait(until: nil) { state -> Question?? in
            if state.isStopping { return .some(nil) }
            return state.waiting.isEmpty ? nil : .some(state.waiting.removeFirst())
        }
        return next ?? nil
    }

    /// Reads in one snapshot, and suspends the caller meanwhile.
    ///
    /// - Parameter body: called on the background thread.
    /// - Returns: the result of `body`.
    /// - Throws: if the read failed or was refused.
    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (Reader) throws(Reader.Failure) -> Answer
    ) async throws(StoreError) -> Answer {
        // The continuation is resumed exactly once: the thread answers or refuses a queued question, and this function
        // refuses a question that could not be queued.
        let result = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<Answer, StoreError>, Never>) in
            let question = Question(
                answer: { [self] in
                    let result = answer(body, &$0)
                    unsafe continuation.resume(returning: result)
                    if case .failure(let error) = result { return error }
                    return nil
                },
                refuse: { unsafe continuation.resume(returning: .failure($0)) }
            )
            if let refusal = append(question) { question.refuse(refusal) }
        }
        return try result.get()
    }

    private func answer<Answer>(
        _ body: (Reader) throws(Reader.Failure) -> Answer,
        _ reader: inout Reader?
    ) -> Result<Answer, StoreError> {
        do throws(Reader.Failure) {
            let opened: Reader
            if let reader { opened = reader } else { opened = try backend.openReportReader() }
            reader = opened
            try opened.beginSnapshot()
            let answer = try body(opened)
            try opened.endSnapshot()
            return .success(answer)
        } catch {
            reader = nil
            return .failure(Reader.translated(error).error)
        }
    }

    /// Queues a question; returns the refusal if that is not possible, else nil.
    private func append(_ question: Question) -> StoreError? {
        let refusal = state.withLock { state -> StoreError? in
            if state.isStopping { return Self.stopping }
            guard state.waiting.count < Self.queueLimit else {
                return StoreError(.overloaded, "too many long reads are waiting already")
            }
            state.waiting.append(question)
            return nil
        }
        if refusal == nil { state.broadcast() }
        return refusal
    }

    private static var stopping: StoreError { StoreError(.stopping, "the server is stopping") }
}
