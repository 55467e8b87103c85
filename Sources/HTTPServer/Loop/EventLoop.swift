internal import CLinux
internal import Glibc
internal import Synchronization
internal import Threads

/// An event loop: a thread with its listener, connections and handler.
///
/// It is an actor whose executor is the loop's thread, so that the compiler keeps the loop's state on that thread. The
/// connections and the handler are not `Sendable`. A handler that suspends resumes on this thread.
actor EventLoop {
    nonisolated let executor: LoopExecutor
    nonisolated let stopRequest = LoopStopRequest()
    nonisolated let configuration: HTTPServerConfiguration
    nonisolated let counters: Counters

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The actor owns its executor, which therefore outlives every use of the reference.
        unsafe executor.asUnownedSerialExecutor()
    }

    private static let listenerToken = UInt64.max
    private static let wakeToken = UInt64.max - 1
    /// The maximum number of failed accepts in a row; then the loop pauses, because further tries would spin.
    private static let maximumConsecutiveAcceptFailures = 16
    private static let memoryReturnNanoseconds: Int64 = 1_000_000_000
    private static let readLength = 64 * 1024

    let timeouts: TimeoutTable
    private let sweepNanoseconds: Int64
    private var poller: Poller
    private var listener: Listener?
    /// When descriptors run out, the loop closes this one to accept and refuse one connection, and then opens it again.
    private var spareDescriptor: Descriptor?
    private var acceptIsPaused = false
    private var isStopping = false
    private var nextSweep: MonotonicTime
    private var mayReturnMemoryAt: MonotonicTime
    let memory: RequestMemory
    private let portWaits: PortWaits

    /// Whether the loop has run its last turn (iteration), so that free workers must end.
    private(set) var hasStopped = false

    var handler: (any RequestHandler)?
    var workers = WorkerPool()
    var table = ConnectionTable()
    var date = DateField()
    /// `nil` without TLS.
    let tls: TLSEngine?
    /// The buffer of all reads of the loop; connections copy from it.
    var readBuffer = [UInt8](repeating: 0, count: readLength)
    /// Connections whose responses the loop sends at the end of the turn.
    ///
    /// Until then, each of them waits for its peer, or a handler works on its next request.
    var unsent: [Connection] = []
    /// The pending work, oldest first, from the index `nextWorkItem` on.
    var pendingWork: [Worker.WorkItem] = []
    var nextWorkItem = 0
    /// The tokens of connections with responses whose delivery the loop must report, each once.
    ///
    /// They are tokens, because a reference would keep the socket of an ended connection open until the next sweep, and
    /// an idle loop does not sweep.
    var watched: [UInt64] = []
    /// Unused output buffers, which the loop drops once a second.
    var spareOutputs: [[UInt8]] = []

    init(_ configuration: HTTPServerConfiguration, listener: consuming Listener, counters: Counters)
        throws(StartError)
    {
        executor = try LoopExecutor()
        poller = try Poller()
        portWaits = PortWaits(epoll: poller.number, executor: executor)
        self.configuration = configuration
        self.counters = counters
        tls = try configuration.tls.map { termination throws(StartError) in
            guard let engine = TLSEngine(termination, readLength: Self.readLength) else {
                throw .resources("memory for TLS")
            }
            return engine
        }
        timeouts = TimeoutTable(configuration.timeouts)
        sweepNanoseconds = max(1_000_000, configuration.sweepInterval.wholeNanoseconds)
        nextSweep = .now()
        mayReturnMemoryAt = nextSweep
        memory = RequestMemory(limit: configuration.loopMemoryByteCount)
        spareDescriptor = Descriptor(linux_open_null())
        guard poller.watchInput(executor.wakeSignal.number, token: Self.wakeToken),
            poller.watchInput(listener.number, token: Self.listenerToken)
        else { throw .resources("epoll registration") }
        self.listener = consume listener
    }

    /// Runs the loop on this thread until it is stopped and its connections have ended or were cut off.
    nonisolated func run() {
        var batch: [UnownedJob] = []
        var continues = true
        while continues {
            runReadyWork(&batch)
            continues = assumeIsolated { $0.turn() }
        }
        // This closes the sockets of the connections that were cut off.
        runReadyWork(&batch)
        assumeIsolated { $0.dismissWorkers() }
        while !executor.isQueueEmpty { executor.runQueuedJobs(&batch) }
    }

    /// Releases the handler and ends its waits; called after `run`, or instead of it if the handler of any loop could
    /// not be created.
    nonisolated func retire() {
        assumeIsolated { loop in
            loop.handler = nil
            loop.portWaits.end()
        }
    }

    private nonisolated func runReadyWork(_ batch: inout [UnownedJob]) {
        repeat { executor.runQueuedJobs(&batch) } while assumeIsolated { $0.dispatchWork() }
    }

    func setHandler(_ make: (LoopPort) throws -> any RequestHandler) rethrows {
        handler = try make(portWaits.port)
    }
}

// MARK: - A turn

extension EventLoop {
    /// Sends the gathered responses, waits for events, and handles or queues the work that they cause.
    ///
    /// - Returns: whether the loop continues.
    private func turn() -> Bool {
        for connection in unsent { sendGathered(connection) }
        unsent.removeAll(keepingCapacity: true)
        handler?.loopTurnDidEnd()
        let sleeps = !hasPendingWork && executor.fallAsleep()
        let count = poller.wait(milliseconds: sleeps ? millisecondsToSleep : 0)
        if sleeps { executor.wokeUp() }
        for index in 0..<count { take(poller.event(index)) }
        let now = MonotonicTime.now()
        if now >= portWaits.earliestTime { portWaits.makeTimedCalls(at: now) }
        if stopRequest.isStopping { stop(at: now) }
        if now >= nextSweep { sweep(at: now) }
        if hasPendingWork { handler?.loopTurnWillBegin(connectionCount: pendingWork.count - nextWorkItem) }
        return !(isStopping && (table.count == 0 || now >= stopRequest.cutOff))
    }

    private var millisecondsToSleep: Int32 {
        let mayRelease = hasMemoryToReturn || workers.hasSurplus || !spareOutputs.isEmpty
        let sweeps = table.count > 0 || acceptIsPaused || isStopping || mayRelease
        let end = sweeps ? min(nextSweep, portWaits.earliestTime) : portWaits.earliestTime
        guard end.nanoseconds < .max else { return -1 }
        let (milliseconds, rest) = end.nanoseconds(since: .now()).quotientAndRemainder(dividingBy: 1_000_000)
        return Int32(clamping: milliseconds + rest.signum())
    }

    private func take(_ event: Poller.Event) {
        switch event.token {
        case Self.wakeToken: executor.wakeSignal.clear()
        case Self.listenerToken: acceptConnections()
        case _ where PortWaits.owns(event): portWaits.take(event)
        default:
            guard let connection = table.connection(event.token), connection.record(event) else { return }
            wake(connection, .ready)
        }
    }

    private func sweep(at now: MonotonicTime) {
        nextSweep = now.advanced(byNanoseconds: sweepNanoseconds)
        for slot in table.takeOverdue(at: now) {
            if let connection = table.connections[slot] { wake(connection, .deadline) }
        }
        for token in watched {
            guard let connection = table.connection(token), !connection.ledger.isEmpty else { continue }
            connection.ledger.acknowledge(connection.socket.progress.acknowledgedCount)
            if connection.ledger.isEmpty, connection.interest == .ending { wake(connection, .ready) }
        }
        watched.removeAll { token in
            guard let connection = table.connection(token) else { return true }
            connection.isWatched = !connection.ledger.isEmpty
            return !connection.isWatched
        }
        if acceptIsPaused { resumeAccepting() }
        if now >= mayReturnMemoryAt { returnMemory(at: now) }
    }

    /// Dismisses idle workers, drops unused buffers and, if much memory was freed, returns it to the system.
    ///
    /// This happens at most once a second, because it takes time.
    private func returnMemory(at now: MonotonicTime) {
        mayReturnMemoryAt = now.advanced(byNanoseconds: Self.memoryReturnNanoseconds)
        workers.dismissIdle()
        spareOutputs = []
        guard hasMemoryToReturn else { return }
        // Without this call, the allocator would keep the freed memory.
        linux_return_memory()
        memory.memoryWasReturned()
        workers.memoryWasReturned()
    }

    private var hasMemoryToReturn: Bool { memory.hasMemoryToReturn || workers.hasMemoryToReturn }

    private func dismissWorkers() {
        hasStopped = true
        workers.dismissAll()
    }

    private func stop(at now: MonotonicTime) {
        if !isStopping {
            isStopping = true
            nextSweep = now
            // The kernel resets the connections in the backlog when the listener closes, so accept them first.
            acceptConnections(atMost: Int(configuration.backlog))
            if let number = listener?.number { poller.unwatch(number) }
            listener = nil
            for case let connection? in table.connections { beginStopping(connection, at: now) }
        }
        guard now >= stopRequest.cutOff else { return }
        for case let connection? in table.connections {
            connection.isCutOff = true
            wake(connection, .cutOff)
        }
    }

    private func beginStopping(_ connection: Connection, at now: MonotonicTime) {
        connection.state.stop(at: now)
        connection.stream?.interrupt()
        if connection.isParked { table.setDeadline(connection.deadline, of: connection.slot) }
    }
}

// MARK: - Accepting

extension EventLoop {
    private func acceptConnections(atMost count: Int = 64) {
        var vanishedInARow = 0
        for _ in 0..<count {
            guard let accepted = listener?.accept() else { return }
            switch consume accepted {
            case .connection(let descriptor, let peer):
                vanishedInARow = 0
                open(descriptor, peer: peer)
            case .vanished:
                vanishedInARow += 1
                guard vanishedInARow < Self.maximumConsecutiveAcceptFailures else { return pauseAccepting() }
            case .nothing: return
            case .exhausted: return pauseAccepting()
            }
        }
    }

    private func open(_ descriptor: consuming Descriptor, peer: PeerAddress) {
        let openCount = counters.openConnections.load(ordering: .relaxed) + 1
        let isTooMany = openCount > configuration.maximumConnections
        if isTooMany { counters.turnedAwayConnections.add(1) }
        guard openCount <= configuration.maximumConnections + configuration.maximumRefusedConnections else {
            reject(Socket(descriptor), peer: peer)
            return
        }
        let slot = table.reserve()
        guard poller.watchConnection(descriptor.number, token: table.token(slot)) else {
            table.remove(slot)
            return
        }
        let now = MonotonicTime.now()
        var state = ConnectionState(
            limits: configuration.limits,
            timeouts: timeouts,
            peer: peer,
            isSecure: tls != nil,
            memory: memory,
            acceptedAt: now
        )
        if isStopping { state.stop(at: now) }
        let handshake = tls.map { _ in
            Connection.Handshake(deadline: now.advanced(byNanoseconds: timeouts.header), turnsAway: isTooMany)
        }
        table.insert(Connection(socket: Socket(descriptor), slot: slot, state: state, handshake: handshake))
        counters.acceptedConnections.add(1)
        counters.openConnections.add(1)
        pendingWork.append(Worker.WorkItem(slot: slot, cause: .accepted(turnsAway: isTooMany)))
    }

    /// Removes a connection, which closes its socket.
    func close(_ connection: Connection) {
        table.remove(connection.slot)
        connection.state.abandon()
        if connection.tls != nil { memory.changeSessions(by: -1) }
        counters.openConnections.add(-1)
    }

    /// Stops accepting until the next sweep, because further tries would spin.
    ///
    /// Descriptors or memory ran out, or too many connections in a row vanished. The function uses the spare descriptor
    /// to accept and refuse the first connection in the backlog.
    private func pauseAccepting() {
        guard let number = listener?.number else { return }
        counters.acceptPauses.add(1)
        acceptIsPaused = true
        poller.unwatch(number)
        spareDescriptor = nil
        if case .connection(let descriptor, let peer)? = listener?.accept() {
            counters.turnedAwayConnections.add(1)
            reject(Socket(descriptor), peer: peer)
        }
        spareDescriptor = Descriptor(linux_open_null())
    }

    /// Sends 503, except over TLS, and closes the connection at once.
    private func reject(_ socket: consuming Socket, peer: PeerAddress) {
        // A TLS client would not understand the response.
        guard tls == nil else { return }
        let reason = Refusal.tooManyConnections.sentence
        let rejection = Rejection(kind: .overloaded, reason: reason, peer: peer, firstByteAt: .now())
        guard let response = rendered(rejection) else { return }
        var output: [UInt8] = []
        let context = ResponseWriter.Context(method: nil, version: .http11, keepsAlive: false)
        ResponseWriter.write(response, to: &output, date: date.current(), context)
        // Read a request that has arrived: with unread bytes, the kernel would send a reset when the socket closes.
        _ = socket.receive(into: &readBuffer)
        _ = socket.send(output, from: 0)
        socket.endSending()
    }

    private func resumeAccepting() {
        guard let number = listener?.number else { return }
        if spareDescriptor == nil { spareDescriptor = Descriptor(linux_open_null()) }
        guard poller.watchInput(number, token: Self.listenerToken) else { return }
        acceptIsPaused = false
    }
}
