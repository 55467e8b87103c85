#if PostgreSQL
public import Threads

/// The outcome of one statement of a transaction.
public enum StatementOutcome: Sendable {
    case done(ResultRows)
    case failed(PostgreSQLError)
    /// An earlier statement failed, and the server did not execute this one.
    case aborted
}

/// The outcome of a ``StatementBatch``.
public struct BatchOutcome: Sendable {
    /// One for each statement; empty if the connection was lost or the deadline passed.
    public let outcomes: [StatementOutcome]
    /// Why the batch does not count as committed; nil if it does.
    ///
    /// The transaction may be committed if the kind is `connectionLost`, `shuttingDown`, `deadline` or `notReplicated`;
    /// otherwise it is not.
    public let error: PostgreSQLError?

    /// Returns the rows of each statement.
    ///
    /// - Throws: ``error``.
    public func rows() throws(PostgreSQLError) -> [ResultRows] {
        if let error { throw error }
        return outcomes.compactMap { if case .done(let rows) = $0 { rows } else { nil } }
    }
}

/// A PostgreSQL connection that a loop drives, and that connects again after a loss.
///
/// It belongs to the thread of its port: the loop calls it there, and tasks of the loop call its functions there. No
/// function waits for the network. When the turn ends, the statements are sent in the order of the calls. They are sent
/// in pipeline mode: the server executes a batch while later ones are under way.
public final class PostgreSQLConnection {
    public enum State: Equatable, Sendable {
        /// No server has been reached yet, and the first round of attempts has not ended.
        case connecting
        case ready
        /// The last connection or attempt failed with this error; the object tries again.
        case lost(PostgreSQLError)
        case closed
    }

    enum Phase: Equatable {
        /// The connection waits for a host's addresses.
        case resolving
        case connecting(LoopPort.Readiness)
        case verifying
        case ready
        /// The connection waits for the next attempt.
        case waiting
        case closed
    }

    public internal(set) var state = State.connecting {
        didSet { if state != oldValue { stateDidChange(state) } }
    }
    /// Called after each change of ``state``.
    public var stateDidChange: (State) -> Void = { _ in }
    /// Whether the other end is not the server itself, but a pooler.
    public internal(set) var isPooled = false
    /// The timeline of the primary, which each promotion of a standby increases; 0 before the first connection.
    public internal(set) var timeline: Int64 = 0

    let settings: PostgreSQLSettings
    let port: LoopPort
    let now: () -> MonotonicTime
    let randomShare: () -> Double

    // PostgreSQLConnection+Connecting.swift changes the following properties.
    var phase = Phase.waiting
    /// When the phase ends; nil for a phase without a time limit.
    var phaseEnd: MonotonicTime?
    /// When the connection gives up the look-up of the current host's addresses.
    var attemptEnd = MonotonicTime(nanoseconds: .max)
    var remainingHosts: [PostgreSQLAddress.Host] = []
    var remainingAddresses: [String] = []
    var failureCount = 0
    var lastFailure = PostgreSQLError(.notConnected, "The first attempt to connect has not ended.")
    var library: LibPQ?
    /// The socket that the port watches; libpq may have closed it already.
    var watchedDescriptor: Int32?
    /// The first refusal by a server in this round of attempts; nil without one.
    ///
    /// More attempts do not change it.
    var refusal: PostgreSQLError?
    /// The first failure in this round at an address where a server listens, such as an unknown certificate.
    ///
    /// It says more than the failure at a later address where no server listens.
    var answeredFailure: PostgreSQLError?
    var readyWaiters: [ReadyWaiter] = []

    /// A call that waits until the connection is ready.
    struct ReadyWaiter {
        let deadline: MonotonicTime
        /// Whether the wait ends when a server refuses the connection permanently.
        let endsAtRefusal: Bool
        let resume: (PostgreSQLError?) -> Void
    }

    /// A statement that this connection has prepared, or has asked the server to prepare.
    private final class Prepared {
        /// Keeps the object, and so its identity, alive.
        let statement: PreparedStatement
        let name: String
        let types: [TypeID]
        /// Why the server refused to prepare the statement; nil if it did not.
        ///
        /// A call fails with this error if it was sent before the refusal arrived.
        var failure: PostgreSQLError?

        init(_ statement: PreparedStatement, name: String, types: [TypeID]) {
            (self.statement, self.name, self.types) = (statement, name, types)
        }
    }

    /// Statements up to one synchronisation, which are one transaction.
    private final class Group {
        enum Kind {
            case preparation
            /// Reads of one turn.
            case reads
            case batch
        }

        struct Waiter {
            let outcomes: Range<Int>
            let deadline: MonotonicTime
            let resume: (BatchOutcome) -> Void
        }

        let kind: Kind
        var statements: [Prepared] = []
        var outcomes: [StatementOutcome] = []
        /// An error of the commit itself.
        var failure: PostgreSQLError?
        var waiters: [Waiter] = []

        init(_ kind: Kind) { self.kind = kind }
    }

    private var prepared: [ObjectIdentifier: Prepared] = [:]
    private var preparedCount = 0
    /// The beginning of the names of this connection's statements.
    ///
    /// A pooler may let several connections use one session, and no connection must then execute another one's
    /// statement.
    private let statementPrefix = "s\(String(UInt32.random(in: .min ... .max), radix: 36))_"
    /// Whether the transaction of the last batch is still open.
    private var isInTransaction = false
    /// The groups whose outcome the server has not sent, oldest first.
    private var groups: [Group] = []
    /// Whether the last group is not synchronised yet, so that it can take more statements.
    private var isOpen = false
    private var watchesWriting = false
    /// When the server last sent something or, if that is later, when the first of the waiting groups was queued.
    private var lastProgress = MonotonicTime(nanoseconds: 0)
    /// The second connection, while it finds out whether a silent server still answers.
    private var probe: PostgreSQLConnection?
    private var nextWake: MonotonicTime?

    /// - Parameters:
    ///   - settings: the server, and the limits.
    ///   - port: the loop.
    ///   - now: the clock of deadlines.
    ///   - randomShare: returns numbers from 0 to 1, which spread the attempts of many connections.
    public init(
        _ settings: PostgreSQLSettings,
        port: LoopPort,
        now: @escaping () -> MonotonicTime = MonotonicTime.now,
        randomShare: @escaping () -> Double = { .random(in: 0...1) }
    ) {
        (self.settings, self.port, self.now, self.randomShare) = (settings, port, now, randomShare)
    }

    deinit { close() }

    /// Starts to connect.
    public func start() {
        guard phase == .waiting, library == nil else { return }
        connectAgain()
    }

    /// Ends the connection permanently; calls that wait fail.
    public func close() {
        guard phase != .closed else { return }
        let error = PostgreSQLError(.notConnected, "The connection was closed.")
        (phase, phaseEnd) = (.closed, nil)
        drop(error)
        resumeReadyWaiters(error)
        state = .closed
    }

    /// Waits until the connection is ready.
    ///
    /// - Parameters:
    ///   - deadline: the latest end of the wait.
    ///   - endsAtRefusal: whether the wait ends when a server refuses the user, the password, the database or a setting.
    /// - Throws: that refusal; the failure of the last attempt when the deadline passes; an error if the connection is
    ///   closed.
    public func waitUntilReady(by deadline: MonotonicTime, endsAtRefusal: Bool = false)
        async throws(PostgreSQLError)
    {
        if phase == .ready { return }
        // The continuation is resumed once: when the connection becomes ready, is refused or is closed, or the deadline
        // passes.
        let error = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<PostgreSQLError?, Never>) in
            guard phase != .closed else { return unsafe continuation.resume(returning: lastFailure) }
            readyWaiters.append(
                ReadyWaiter(deadline: deadline, endsAtRefusal: endsAtRefusal) {
                    unsafe continuation.resume(returning: $0)
                }
            )
            wake(at: deadline)
        }
        if let error { throw error }
    }

    func resumeReadyWaiters(_ error: PostgreSQLError?) {
        let waiters = readyWaiters
        readyWaiters = []
        for waiter in waiters { waiter.resume(error) }
    }
}

// MARK: - Statements

extension PostgreSQLConnection {
    /// Executes a statement that writes nothing, in one transaction with the reads directly before and after it.
    ///
    /// These are reads of the same turn (one iteration of the loop). If another read of the transaction fails, this one
    /// is executed again alone.
    ///
    /// - Parameters:
    ///   - statement: the statement.
    ///   - values: its parameters.
    ///   - deadline: the time at which the call fails if it has no result; the connection drops a result that
    ///     arrives later.
    /// - Returns: the rows.
    /// - Throws: the statement's error, or an error of the connection or the deadline.
    public func read<each Value: PostgreSQLValue>(
        _ statement: PreparedStatement,
        _ values: repeat each Value,
        by deadline: MonotonicTime
    ) async throws(PostgreSQLError) -> ResultRows {
        try await read(statement, Parameters(repeat each values), by: deadline)
    }

    public func read(
        _ statement: PreparedStatement,
        _ parameters: Parameters,
        by deadline: MonotonicTime
    ) async throws(PostgreSQLError) -> ResultRows {
        // The continuation is resumed once, because `read` calls its last argument once.
        let result = await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<ResultRows, PostgreSQLError>, Never>) in
            read(statement, parameters, by: deadline) { unsafe continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Executes a statement that writes nothing, for a caller that is no task.
    ///
    /// It calls `resume` once with the rows or the error. If there is no connection, it calls `resume` before it
    /// returns. The closure `resume` must not send statements.
    public func read(
        _ statement: PreparedStatement,
        _ parameters: Parameters,
        by deadline: MonotonicTime,
        _ resume: @escaping (Result<ResultRows, PostgreSQLError>) -> Void
    ) {
        guard phase == .ready else { return resume(.failure(notConnected)) }
        let step = StatementBatch.Step(statement: statement, parameters: parameters)
        send([step], .reads, by: deadline) { [weak self] outcome in
            guard outcome.error?.kind == .aborted, let self, phase == .ready else {
                return resume(Self.result(of: outcome))
            }
            send([step], .batch, by: deadline) { resume(Self.result(of: $0)) }
        }
    }

    private static func result(of outcome: BatchOutcome) -> Result<ResultRows, PostgreSQLError> {
        do throws(PostgreSQLError) {
            guard let rows = try outcome.rows().first else { throw protocolError }
            return .success(rows)
        } catch { return .failure(error) }
    }

    /// Makes the server forget a prepared statement, after it has executed the statements of earlier calls.
    public func discard(_ statement: PreparedStatement) {
        guard phase == .ready, let library,
            let known = prepared.removeValue(forKey: ObjectIdentifier(statement))
        else { return }
        synchronize()
        if groups.isEmpty { lastProgress = now() }
        let group = Group(.preparation)
        group.statements = [known, known]
        groups.append(group)
        isOpen = true
        guard library.prepare("", "DEALLOCATE \(known.name)", []), library.execute("", Parameters()) else {
            return lose(library.failure)
        }
        synchronize()
    }

    /// Executes statements as one transaction.
    ///
    /// A batch may contain `BEGIN` or `COMMIT`: a transaction that `BEGIN` starts continues over several batches. Until
    /// it ends, the caller must let no other call use the connection.
    ///
    /// - Parameters:
    ///   - batch: the statements.
    ///   - deadline: the time at which the call ends; whether the server commits is unknown then.
    /// - Returns: the outcomes; if the batch has committed, the commit is on the server's disk.
    public func perform(_ batch: StatementBatch, by deadline: MonotonicTime) async -> BatchOutcome {
        await perform(batch.steps, .batch, by: deadline)
    }

    private func perform(_ steps: [StatementBatch.Step], _ kind: Group.Kind, by deadline: MonotonicTime)
        async -> BatchOutcome
    {
        guard phase == .ready else { return BatchOutcome(outcomes: [], error: notConnected) }
        // The continuation is resumed once: a waiter leaves its group when it is resumed, and each group ends with an
        // answer of the server or with the connection.
        return await unsafe withUnsafeContinuation {
            (continuation: UnsafeContinuation<BatchOutcome, Never>) in
            send(steps, kind, by: deadline) { unsafe continuation.resume(returning: $0) }
        }
    }

    /// Whether another connection to this database has seen a later primary than this connection's server.
    private var isSuperseded: Bool { phase == .ready && timeline < settings.timelines.highest }

    static var superseded: PostgreSQLError {
        PostgreSQLError(.readOnly, "The server was the primary before the last failover.")
    }

    private var notConnected: PostgreSQLError {
        PostgreSQLError(.notConnected, "There is no connection to the database: \(lastFailure.message)")
    }

    private static var protocolError: PostgreSQLError {
        PostgreSQLError(.other, "The server's answers do not agree with the statements that were sent.")
    }

    /// Queues a transaction, which is sent when the turn ends.
    func send(_ batch: StatementBatch, by deadline: MonotonicTime, _ resume: @escaping (BatchOutcome) -> Void)
    { send(batch.steps, .batch, by: deadline, resume) }

    private func send(
        _ steps: [StatementBatch.Step],
        _ kind: Group.Kind,
        by deadline: MonotonicTime,
        _ resume: @escaping (BatchOutcome) -> Void
    ) {
        if isSuperseded { lose(Self.superseded) }
        if groups.isEmpty { lastProgress = now() }
        for step in steps where prepared[ObjectIdentifier(step.statement)] == nil { prepare(step) }
        if library != nil, !(isOpen && kind == .reads && groups.last?.kind == .reads) {
            synchronize()
            groups.append(Group(kind))
            isOpen = true
        }
        guard let library, let group = groups.last else {
            return resume(BatchOutcome(outcomes: [], error: notConnected))
        }
        let start = group.statements.count
        group.statements += steps.compactMap { prepared[ObjectIdentifier($0.statement)] }
        group.waiters.append(.init(outcomes: start..<start + steps.count, deadline: deadline, resume: resume))
        for (step, known) in zip(steps, group.statements[start...]) {
            precondition(
                known.types == step.parameters.types,
                "a statement's parameters have the same types always"
            )
            guard library.execute(known.name, step.parameters) else { return lose(library.failure) }
        }
        wake(at: min(deadline, lastProgress.advanced(by: settings.silenceLimit)))
    }

    /// Prepares a statement in a transaction of its own, so that no other failure undoes it.
    private func prepare(_ step: StatementBatch.Step) {
        synchronize()
        guard let library else { return }
        let (statement, types) = (step.statement, step.parameters.types)
        preparedCount += 1
        let name = "\(statementPrefix)\(preparedCount)"
        let new = Prepared(statement, name: name, types: types)
        prepared[ObjectIdentifier(statement)] = new
        let group = Group(.preparation)
        group.statements = [new]
        groups.append(group)
        isOpen = true
        guard library.prepare(name, statement.text, types) else { return lose(library.failure) }
        synchronize()
    }

    /// Ends the transaction of the last group.
    private func synchronize() {
        guard isOpen, let library else { return }
        isOpen = false
        if !library.sync() { lose(library.failure) }
    }

    /// Sends the statements of this turn; the loop calls this at the end of each turn.
    public func turnDidEnd() {
        guard isOpen else { return }
        synchronize()
        flush()
    }

    private func flush() {
        guard let library else { return }
        guard let isDone = library.flush() else { return lose(library.failure) }
        guard watchesWriting == isDone else { return }
        watchesWriting = !isDone
        port.setWatchesWriting(library.descriptor, watchesWriting)
    }
}

// MARK: - Answers

extension PostgreSQLConnection {
    /// Reads what the server has sent, and sends what the socket takes.
    ///
    /// Both happen for each event: a server whose answers are not read stops reading statements.
    func exchange() {
        guard let library else { return }
        guard library.consume() else { return lose(library.failure) }
        noteProgress()
        receive(library)
        if watchesWriting { flush() }
    }

    private func receive(_ library: LibPQ) {
        var ends = 0
        while self.library === library, let group = groups.first, !library.isBusy {
            guard let reply = library.next() else {
                // libpq returns nil once after each statement's reply, and never twice in a row.
                ends += 1
                guard ends < 2 else { return lose(Self.protocolError) }
                continue
            }
            ends = 0
            // A warning that came before the reply to the last statement is not about the commit.
            if group.outcomes.count + 1 < group.statements.count { _ = library.takeWarning() }
            switch reply {
            case .sync:
                groups.removeFirst()
                finish(group, library.takeWarning())
            case .failed(let error) where group.outcomes.count == group.statements.count:
                group.failure = error
            case .failed(let error): group.outcomes.append(.failed(error))
            case .aborted: group.outcomes.append(.aborted)
            case .rows(let rows): group.outcomes.append(.done(rows))
            }
        }
    }

    private func finish(_ group: Group, _ warning: PostgreSQLError?) {
        let library = library
        guard group.outcomes.count == group.statements.count else {
            return lose(Self.protocolError, with: group)
        }
        var leaves: PostgreSQLError?
        for (index, statement) in group.statements.enumerated() {
            guard case .failed(let error) = group.outcomes[index] else { continue }
            if group.kind == .preparation {
                statement.failure = error
                forget(statement)
            } else if error.code == "26000" || error.code == "0A000" {
                // The server has no such statement, or the statement's result has other columns since a migration.
                if let cause = statement.failure { group.outcomes[index] = .failed(cause) }
                forget(statement)
            }
            if error.kind == .readOnly { leaves = error }
        }
        if group.kind == .batch { noteTransaction(group) }
        let uncertain = group.kind == .batch && !isInTransaction ? warning : nil
        // The rows of a former primary may differ from the rows of the new primary, and its commits are lost.
        if isSuperseded { return lose(Self.superseded, with: group) }
        for waiter in group.waiters {
            let outcomes = Array(group.outcomes[waiter.outcomes])
            let error = Self.error(outcomes) ?? group.failure ?? Self.undone(group) ?? uncertain
            waiter.resume(BatchOutcome(outcomes: outcomes, error: error))
        }
        // Connect again after a `readOnly` error, because another server may accept writes.
        if let leaves, self.library === library { lose(leaves) }
    }

    /// Records whether a batch has left its transaction open.
    ///
    /// `BEGIN` can only be the first statement, and `COMMIT` or `ROLLBACK` only the last one.
    private func noteTransaction(_ group: Group) {
        if group.statements.first?.statement.text.hasPrefix("BEGIN") == true { isInTransaction = true }
        guard case .done? = group.outcomes.last, let last = group.statements.last?.statement.text else {
            return
        }
        if last == "COMMIT" || last == "ROLLBACK" { isInTransaction = false }
    }

    /// Lets the next call prepare the statement again, unless a call has done so meanwhile.
    private func forget(_ statement: Prepared) {
        let key = ObjectIdentifier(statement.statement)
        if prepared[key] === statement { prepared[key] = nil }
    }

    /// Gives up the connection, and also fails the calls of a group that has left the queue.
    private func lose(_ error: PostgreSQLError, with group: Group) {
        groups.insert(group, at: 0)
        lose(error)
    }

    private static func error(_ outcomes: [StatementOutcome]) -> PostgreSQLError? {
        for outcome in outcomes {
            switch outcome {
            case .done: continue
            case .failed(let error): return error
            case .aborted: return PostgreSQLError(.aborted, "An earlier statement of the transaction failed.")
            }
        }
        return nil
    }

    /// Returns an error if the server answered `COMMIT` by undoing the transaction, because a statement had failed.
    private static func undone(_ group: Group) -> PostgreSQLError? {
        guard group.statements.last?.statement.text == "COMMIT", case .done(let rows)? = group.outcomes.last,
            rows.commandTag == "ROLLBACK"
        else { return nil }
        return PostgreSQLError(.aborted, "An earlier statement of the transaction failed.")
    }
}

// MARK: - Loss and time

extension PostgreSQLConnection {
    /// Closes the socket, and fails the calls that wait for the server.
    func drop(_ error: PostgreSQLError) {
        unwatch()
        let lost = groups
        (library, groups, prepared, probe) = (nil, [], [:], nil)
        (isOpen, watchesWriting, isInTransaction) = (false, false, false)
        let outcome = BatchOutcome(
            outcomes: [],
            error: error.kind == .shuttingDown ? error : PostgreSQLError(.connectionLost, error.message)
        )
        for group in lost { for waiter in group.waiters { waiter.resume(outcome) } }
    }

    func unwatch() {
        if let watchedDescriptor { port.unwatch(watchedDescriptor) }
        watchedDescriptor = nil
    }

    /// Calls `runTimers` in the first turn after `time`, or earlier.
    func wake(at time: MonotonicTime) {
        if let nextWake, nextWake <= time { return }
        nextWake = time
        port.wake(time) { [weak self] in
            guard let self, nextWake == time else { return }
            nextWake = nil
            runTimers(now())
        }
    }

    private func runTimers(_ now: MonotonicTime) {
        var next = MonotonicTime(nanoseconds: .max)
        for group in groups {
            let overdue = group.waiters.filter { $0.deadline <= now }
            group.waiters.removeAll { $0.deadline <= now }
            for waiter in overdue {
                let error = PostgreSQLError(.deadline, "The database did not answer in time.")
                waiter.resume(BatchOutcome(outcomes: [], error: error))
            }
            next = min(next, group.waiters.map(\.deadline).min() ?? next)
        }
        let overdue = readyWaiters.filter { $0.deadline <= now }
        readyWaiters.removeAll { $0.deadline <= now }
        for waiter in overdue { waiter.resume(lastFailure) }
        next = min(next, readyWaiters.map(\.deadline).min() ?? next)
        if !groups.isEmpty, probe == nil {
            let silence = lastProgress.advanced(by: settings.silenceLimit)
            if silence <= now { endSilence() } else { next = min(next, silence) }
        }
        if let phaseEnd, phaseEnd <= now { endPhase() }
        if let phaseEnd { next = min(next, phaseEnd) }
        if next.nanoseconds < .max { wake(at: next) }
    }

    private func noteProgress() { (lastProgress, probe) = (now(), nil) }

    /// Gives up a silent connection; with a probe, only if the server does not answer a second connection either.
    private func endSilence() {
        let lost = PostgreSQLError(.connectionLost, "The database sent nothing for \(settings.silenceLimit).")
        guard let timeout = settings.probeTimeout else { return lose(lost) }
        var second = settings
        // `silenceLimit` is meant for an established connection; a busy server may need longer to set up a session.
        (second.connectTimeout, second.silenceLimit, second.probeTimeout) = (timeout, timeout, nil)
        let probe = PostgreSQLConnection(second, port: port, now: now, randomShare: randomShare)
        self.probe = probe
        probe.stateDidChange = { [weak self] state in
            switch state {
            // An error without a code did not come from the server.
            case .lost(let error) where error.code.isEmpty: self?.lose(lost)
            case .lost, .ready:
                guard let self else { return }
                noteProgress()
                wake(at: lastProgress.advanced(by: settings.silenceLimit))
            case .connecting, .closed: break
            }
        }
        probe.start()
    }
}

#endif
