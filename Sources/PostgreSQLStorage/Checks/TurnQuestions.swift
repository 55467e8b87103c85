#if PostgreSQL
internal import PostgreSQL
internal import Storage
internal import Threads

/// The questions of a loop's checks, gathered until the turn ends: the questions of one kind become one statement.
///
/// A statement with 64 keys takes PostgreSQL a third of the time of 64 statements. While ``usualUnderWay`` turns have
/// no answer, further questions wait for a short time and are sent together. So a busy database server gets fewer and
/// larger statements, and the questions to a distant one do not wait long. A question is not sent if the checks that
/// ask it have given up. The statements of a turn are one transaction with one synchronisation. If one statement fails,
/// the others are executed again, and only the checks that need the failed one fail.
///
/// Two nodes of Citus plan every statement anew, which takes longer than the execution. So on Citus, a turn usually
/// waits until the turn before it has its answers.
///
/// It belongs to the thread of its loop, which it never blocks.
final class TurnQuestions {
    typealias Answers = Result<[RowQuestion: RowAnswer], PostgreSQLError>

    /// A check that waits for answers.
    private final class Asker {
        let deadline: MonotonicTime
        private var missingCount: Int
        private var answers: [RowQuestion: RowAnswer] = [:]
        private var resume: ((Answers) -> Void)?

        init(_ missingCount: Int, by deadline: MonotonicTime, _ resume: @escaping (Answers) -> Void) {
            (self.missingCount, self.deadline, self.resume) = (missingCount, deadline, resume)
        }

        var isWaiting: Bool { resume != nil }

        func take(_ answer: RowAnswer, to question: RowQuestion) {
            guard isWaiting else { return }
            answers[question] = answer
            missingCount -= 1
            if missingCount == 0 { finish(.success(answers)) }
        }

        func finish(_ answers: Answers) {
            resume.take()?(answers)
            self.answers = [:]
        }
    }

    /// A question, and the checks that ask it.
    private struct Asked {
        let question: RowQuestion
        let element: QuestionElement
        var askers: [Asker]
    }

    /// The questions of one statement.
    private struct Group: Hashable {
        let kind: QuestionKind
        /// Nil if the statement reads all buckets.
        let shard: Int64?
    }

    private let connection: PostgreSQLConnection
    private let shards: BucketShards
    private let port: LoopPort
    private let slots: SlotTable
    private let hotSlots: () -> [Int64]
    private let now: () -> MonotonicTime
    private let pause: Duration
    private var statements: QuestionStatements
    /// The questions that were not sent yet.
    private var gathered: [RowQuestion: Asked] = [:]
    private var underWay = 0
    private var sentAt = MonotonicTime(nanoseconds: 0)
    /// The checks that wait, and the checks that got their answers since `endOverdue` last ran.
    private var askers: [Asker] = []
    private var nextWake: MonotonicTime?

    /// If this many turns have no answer, further turns wait for ``pause``.
    private let usualUnderWay: Int
    /// The maximum number of turns without an answer, which is reached while the database server is silent or far away.
    static let maximumUnderWay = 16

    /// - Parameters:
    ///   - connection: the loop's connection; this object sets its `stateDidChange`.
    ///   - port: the loop.
    ///   - slots: the partitions.
    ///   - shards: the shards of Citus; each statement reads one of them.
    ///   - hotSlots: returns the slots that checks read now.
    ///   - pause: the time between further turns while ``usualUnderWay`` turns have no answer; nil for about the time in
    ///     which a nearby database server answers a turn.
    ///   - now: the clock of deadlines.
    init(
        _ connection: PostgreSQLConnection,
        port: LoopPort,
        slots: SlotTable,
        shards: BucketShards = BucketShards(),
        hotSlots: @escaping () -> [Int64],
        pause: Duration? = nil,
        now: @escaping () -> MonotonicTime = MonotonicTime.now
    ) {
        (self.connection, self.port, self.slots, self.shards) = (connection, port, slots, shards)
        statements = QuestionStatements([], onCitus: shards.isCitus)
        self.pause = pause ?? .microseconds(shards.isCitus ? 10_000 : 500)
        usualUnderWay = shards.isCitus ? 1 : 4
        (self.hotSlots, self.now) = (hotSlots, now)
        connection.stateDidChange = { [weak self] in self?.connectionDidChange($0) }
    }

    /// Waits until there is a connection.
    func waitUntilReady(by deadline: MonotonicTime) async throws(PostgreSQLError) {
        try await connection.waitUntilReady(by: deadline)
    }

    /// Asks questions; the answers come together.
    ///
    /// While the first attempt to connect is under way, questions wait for it.
    ///
    /// - Throws: at once if the connection is lost; later if it gets lost, if a statement fails, or at the deadline.
    func ask(_ questions: [RowQuestion], by deadline: MonotonicTime)
        async throws(PostgreSQLError) -> [RowQuestion: RowAnswer]
    {
        if let refusal { throw refusal }
        guard !questions.isEmpty else { return [:] }
        // The continuation is resumed exactly once: an asker removes its function before the call, and each
        // asker ends with its answers, after a failed statement or a lost connection, or at its deadline.
        let result = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Answers, Never>) in
            let asker = Asker(questions.count, by: deadline) { unsafe continuation.resume(returning: $0) }
            for question in questions { gather(question, of: asker) }
            askers.append(asker)
            wake(at: deadline)
        }
        return try result.get()
    }

    private func gather(_ question: RowQuestion, of asker: Asker) {
        guard gathered[question] == nil else {
            gathered[question]?.askers.append(asker)
            return
        }
        let element = QuestionElement(question, slots)
        gathered[question] = Asked(question: question, element: element, askers: [asker])
    }

    /// Sends the questions of this turn; the loop calls this at the end of each turn.
    func endTurn() {
        if connection.state == .ready, !gathered.isEmpty, maySend { send() }
        connection.turnDidEnd()
    }

    private var maySend: Bool {
        if underWay < usualUnderWay { return true }
        return underWay < Self.maximumUnderWay && sentAt.advanced(by: pause) <= now()
    }

    private func send() {
        renewStatements()
        let asked = gathered.values.filter { $0.askers.contains(where: \.isWaiting) }
        gathered = [:]
        let groups = Dictionary(grouping: asked) { asked in
            Group(kind: asked.element.kind, shard: asked.element.bucket.flatMap(shards.shard))
        }
        guard !groups.isEmpty else { return }
        var missingCount = groups.count
        (underWay, sentAt) = (underWay + 1, now())
        // Each statement has a snapshot of its own. If a check reads a claimed click, it must also find the installation
        // of the claim. So the statements about installations come last.
        let order = groups.filter { $0.key.kind != .install } + groups.filter { $0.key.kind == .install }
        for (group, asked) in order {
            let kind = group.kind
            let deadline = asked.lazy.flatMap(\.askers).map(\.deadline).max() ?? now()
            let parameters = QuestionElement.parameters(asked.map(\.element), onCitus: shards.isCitus)
            connection.read(statements.statement(kind), parameters, by: deadline) { [weak self] result in
                Self.pass(result, kind, to: asked)
                missingCount -= 1
                if missingCount == 0 { self?.underWay -= 1 }
            }
        }
    }

    /// Makes new statements if the hot slots have changed, and drops the former ones, because PostgreSQL
    /// keeps every statement that a connection has prepared.
    private func renewStatements() {
        let slots = hotSlots()
        guard slots != statements.slots else { return }
        for statement in statements.made.values { connection.discard(statement) }
        statements = QuestionStatements(slots, onCitus: shards.isCitus)
    }

    private static func pass(
        _ result: Result<ResultRows, PostgreSQLError>,
        _ kind: QuestionKind,
        to asked: [Asked]
    ) {
        do throws(PostgreSQLError) {
            let answers = try kind.answers(in: try result.get(), to: asked.count)
            for (asked, answer) in zip(asked, answers) {
                for asker in asked.askers { asker.take(answer, to: asked.question) }
            }
        } catch { for asker in asked.flatMap(\.askers) { asker.finish(.failure(error)) } }
    }
}

/// Losses and deadlines.
extension TurnQuestions {
    /// Why questions are refused; nil if there is a connection, or the first one is being made.
    private var refusal: PostgreSQLError? {
        switch connection.state {
        case .connecting, .ready: nil
        case .lost(let error): PostgreSQLError(.notConnected, error.message)
        case .closed: PostgreSQLError(.notConnected, "The connection was closed.")
        }
    }

    private func connectionDidChange(_ state: PostgreSQLConnection.State) {
        // The connection itself fails the calls whose statements were sent.
        guard let refusal else { return }
        let unsent = gathered.values.flatMap(\.askers)
        gathered = [:]
        for asker in unsent { asker.finish(.failure(refusal)) }
    }

    /// Calls `endOverdue` in the first turn after `time`.
    private func wake(at time: MonotonicTime) {
        if let nextWake, nextWake <= time { return }
        nextWake = time
        port.wake(time) { [weak self] in
            guard let self, nextWake == time else { return }
            nextWake = nil
            endOverdue(now())
        }
    }

    private func endOverdue(_ now: MonotonicTime) {
        for asker in askers where asker.deadline <= now {
            asker.finish(.failure(PostgreSQLError(.deadline, "The database did not answer in time.")))
        }
        askers.removeAll { !$0.isWaiting }
        if let next = askers.map(\.deadline).min() { wake(at: next) }
    }
}
#endif
