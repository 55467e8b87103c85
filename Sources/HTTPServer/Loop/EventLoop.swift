internal import CLinux
internal import Glibc
internal import Synchronization
internal import Threads

/// An event loop: a thread, its listener, its connections, its handler.
///
/// It is an actor whose executor is the loop's thread, so that the compiler keeps the loop's state on that thread.
/// Connections and handler are not `Sendable`; a handler that suspends resumes here.
actor EventLoop {
    nonisolated let executor: LoopExecutor
    nonisolated let stopRequest = LoopStopRequest()
    nonisolated let configuration: HTTPServerConfiguration
    nonisolated let counters: Counters

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The actor owns its executor, so that the reference lasts as long as it is used.
        unsafe executor.asUnownedSerialExecutor()
    }

    private static let listenerToken = UInt64.max
    private static let wakeToken = UInt64.max - 1
    /// How many connections above the limit get a regular response; further ones get one without waiting for their
    /// request.
    private static let maximumGracefulRejections = 1_024
    /// How many accepts may fail in a row before the loop pauses, because further tries would spin.
    private static let maximumConsecutiveAcceptFailures = 16
    private static let memoryReturnNanoseconds: Int64 = 1_000_000_000
    private static let readLength = 64 * 1024

    let timeouts: TimeoutTable
    private let sweepNanoseconds: Int64
    private var poller: Poller
    private var listener: Listener?
    /// Closed for a short time when descriptors run out, so that one connection can be accepted and refused.
    private var spareDescriptor: Descriptor?
    private var acceptIsPaused = false
    private var isStopping = false
    private var nextSweep: MonotonicTime
    private var mayReturnMemoryAt: MonotonicTime
    let memory: RequestMemory

    /// Whether the last turn is done, so that free workers must end.
    private(set) var hasStopped = false

    var handler: (any RequestHandler)?
    var workers = WorkerPool()
    var table = ConnectionTable()
    var date = DateField()
    /// `nil` without TLS.
    let tls: TLSEngine?
    /// The buffer of every read of the loop; connections copy from it.
    var readBuffer = [UInt8](repeating: 0, count: readLength)
    /// Connections whose responses leave when the turn ends: those that wait for their peer, and those whose next
    /// request a handler has.
    var unsent: [Connection] = []
    /// The work that is pending, from `nextWorkItem` on, in the order in which it arose.
    var pendingWork: [Worker.WorkItem] = []
    var nextWorkItem = 0
    /// Connections with responses whose delivery must be reported.
    var watched: [Connection] = []
    /// Unused output buffers.
    var spareOutputs: [[UInt8]] = []

    init(_ configuration: HTTPServerConfiguration, listener: consuming Listener, counters: Counters)
        throws(StartError)
    {
        executor = try LoopExecutor()
        poller = try Poller()
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
        memory = RequestMemory(limit: configuration.requestMemoryByteCount / max(1, configuration.loopCount))
        spareDescriptor = Descriptor(linux_open_null())
        guard poller.watchInput(executor.wakeSignal.number, token: Self.wakeToken),
            poller.watchInput(listener.number, token: Self.listenerToken)
        else { throw .resources("epoll registration") }
        self.listener = consume listener
    }

    /// Runs the loop on this thread until it is stopped and its connections have ended.
    nonisolated func run() {
        var batch: [UnownedJob] = []
        var continues = true
        while continues {
            runReadyWork(&batch)
            continues = assumeIsolated { $0.turn() }
        }
        // Connections that were cut off still have to close their sockets.
        runReadyWork(&batch)
        assumeIsolated { $0.dismissWorkers() }
        while !executor.isQueueEmpty { executor.runQueuedJobs(&batch) }
        assumeIsolated { $0.handler = nil }
    }

    private nonisolated func runReadyWork(_ batch: inout [UnownedJob]) {
        repeat { executor.runQueuedJobs(&batch) } while assumeIsolated { $0.dispatchWork() }
    }

    func setHandler(_ handler: any RequestHandler) { self.handler = handler }
}

// MARK: - A turn

extension EventLoop {
    /// Waits for events and dispatches them.
    ///
    /// Returns whether the loop continues.
    private func turn() -> Bool {
        for connection in unsent { sendGathered(connection) }
        unsent.removeAll(keepingCapacity: true)
        handler?.loopTurnDidEnd()
        let sleeps = !hasPendingWork && executor.fallAsleep()
        let count = poller.wait(milliseconds: sleeps ? millisecondsToSleep : 0)
        if sleeps { executor.wokeUp() }
        for index in 0..<count { take(poller.event(index)) }
        let now = MonotonicTime.now()
        if stopRequest.isStopping { stop(at: now) }
        if now >= nextSweep { sweep(at: now) }
        if hasPendingWork { handler?.loopTurnWillBegin(connectionCount: pendingWork.count - nextWorkItem) }
        return !(isStopping && (table.count == 0 || now >= stopRequest.cutOff))
    }

    private var millisecondsToSleep: Int32 {
        let mayRelease = hasMemoryToReturn || workers.hasSurplus
        guard table.count > 0 || acceptIsPaused || isStopping || mayRelease else { return -1 }
        return Int32(clamping: (nextSweep.nanoseconds(since: .now()) + 999_999) / 1_000_000)
    }

    private func take(_ event: Poller.Event) {
        switch event.token {
        case Self.wakeToken: executor.wakeSignal.clear()
        case Self.listenerToken: acceptConnections()
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
        for connection in watched where !connection.ledger.isEmpty {
            connection.ledger.acknowledge(connection.socket.progress.acknowledgedCount)
            if connection.ledger.isEmpty, connection.interest == .ending { wake(connection, .ready) }
        }
        watched.removeAll { $0.ledger.isEmpty }
        if acceptIsPaused { resumeAccepting() }
        if now >= mayReturnMemoryAt { returnMemory(at: now) }
    }

    /// Returns memory to the system after a flood; done too often, it would cost more than it gains.
    private func returnMemory(at now: MonotonicTime) {
        mayReturnMemoryAt = now.advanced(byNanoseconds: Self.memoryReturnNanoseconds)
        workers.dismissIdle()
        guard hasMemoryToReturn else { return }
        // The allocator would keep the freed memory.
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
            // Closing the listener would reset the connections in its backlog.
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
        guard openCount <= configuration.maximumConnections + Self.maximumGracefulRejections else {
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

    /// Removes a connection and closes its socket.
    func close(_ connection: Connection) {
        table.remove(connection.slot)
        connection.state.abandon()
        if connection.tls != nil { memory.changeSessions(by: -1) }
        counters.openConnections.add(-1)
    }

    /// Stops accepting until the next sweep: descriptors or memory ran out, and further tries would spin.
    ///
    /// The spare descriptor makes room to accept and refuse the first connection in the queue.
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

    /// Sends 503 and closes, without waiting for anything.
    private func reject(_ socket: consuming Socket, peer: PeerAddress) {
        // A TLS client would not understand the response.
        guard tls == nil else { return }
        var state = ConnectionState(
            limits: configuration.limits,
            timeouts: timeouts,
            peer: peer,
            memory: memory,
            acceptedAt: .now()
        )
        guard case .reject(let rejection) = state.turnAway(), let response = rendered(rejection) else {
            return
        }
        var output: [UInt8] = []
        let context = ResponseWriter.Context(method: nil, version: .http11, keepsAlive: false)
        ResponseWriter.write(response, to: &output, date: date.current(), context)
        // Read a request that has arrived, or its bytes would turn the close into a reset.
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
