internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Answers what takes longer than a loop may be held up, one question after the other, on a thread and a connection of
/// its own.
final class BackgroundReader {
    /// Questions that wait at most.
    static let queueLimit = 16

    private let shared: SharedState
    private let opening: DatabaseOpening
    private var connection: SQLiteConnection?

    init(shared: SharedState, opening: DatabaseOpening) {
        self.shared = shared
        self.opening = opening
    }

    /// Answers until the store stops, then refuses the questions that wait.
    func run() {
        while let question = next() { answer(question) }
        let left = shared.background.withLock { state in
            defer { state.questions = [] }
            return state.questions
        }
        for question in left { question.answer(.failure(StoreError(.stopping, "the server is stopping"))) }
    }

    /// Nil when the store stops.
    private func next() -> BackgroundQuery? {
        let next = shared.background.wait(until: nil) { state -> BackgroundQuery?? in
            if state.isStopping { return .some(nil) }
            return state.questions.isEmpty ? nil : .some(state.questions.removeFirst())
        }
        return next ?? nil
    }

    private func answer(_ question: BackgroundQuery) {
        do throws(StoreError) {
            question.answer(.success(try openConnection()))
        } catch {
            question.answer(.failure(error))
        }
        if question.hasFailed() { connection = nil }
    }

    private func openConnection() throws(StoreError) -> SQLiteConnection {
        if let connection { return connection }
        do throws(SQLiteError) {
            let opened = try opening.openReader()
            connection = opened
            return opened
        } catch {
            throw StoreError(error)
        }
    }
}

/// One question, and who waits for its answer.
struct BackgroundQuery: Sendable {
    /// Called once, on the reader's thread.
    let answer: @Sendable (Result<SQLiteConnection, StoreError>) -> Void
    /// Whether the connection is of no use any more; asked after the answer.
    let hasFailed: @Sendable () -> Bool
}

extension SQLiteSession {
    /// Reads in one snapshot beside the loop; in place, where the store has no threads for that.
    func readInBackground<Answer: Sendable>(
        _ body: @escaping @Sendable (SQLiteReader) throws(SQLiteError) -> Answer
    ) async throws(StoreError) -> Answer {
        guard shared.configuration.hasBackgroundWork else { return try read(body) }
        let shared = shared
        // Resumed exactly once: a question that is queued is answered by the reader, and one that is not is refused here.
        let result = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<Answer, StoreError>, Never>) in
            let hasFailed = ConditionLock(false)
            let question = BackgroundQuery(
                answer: { connection in
                    unsafe continuation.resume(returning: Self.answer(body, connection, hasFailed))
                },
                hasFailed: { hasFailed.withLock { $0 } }
            )
            if let refusal = shared.ask(question) { unsafe continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    private static func answer<Answer>(
        _ body: (SQLiteReader) throws(SQLiteError) -> Answer,
        _ connection: Result<SQLiteConnection, StoreError>,
        _ hasFailed: ConditionLock<Bool>
    ) -> Result<Answer, StoreError> {
        do throws(StoreError) {
            let connection = try connection.get()
            do throws(SQLiteError) {
                try connection.begin(.deferred)
                let answer = try body(SQLiteReader(connection: connection))
                try connection.rollback()
                return .success(answer)
            } catch {
                hasFailed.withLock { $0 = true }
                throw StoreError(error)
            }
        } catch {
            return .failure(error)
        }
    }
}

extension SharedState {
    /// Why a question was not taken; nil when it was.
    fileprivate func ask(_ question: BackgroundQuery) -> StoreError? {
        let refusal = background.withLock { state -> StoreError? in
            if state.isStopping { return StoreError(.stopping, "the server is stopping") }
            guard state.questions.count < BackgroundReader.queueLimit else {
                return StoreError(.overloaded, "too many look into the checks at once")
            }
            state.questions.append(question)
            return nil
        }
        if refusal == nil { background.broadcast() }
        return refusal
    }
}
