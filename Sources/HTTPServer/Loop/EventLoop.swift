internal import CLinux
internal import Glibc
internal import Synchronization
internal import Threads

/// An event loop: a thread, its listener, its connections, its handler.
///
/// It is an actor whose executor is the loop's thread, so that the compiler keeps what belongs to the loop
/// on it. Connections and handler are not `Sendable`; a handler that suspends comes back here.
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
    /// Connections above the limit that are answered in full form; more are answered in passing.
    private static let maximumGracefulRejections = 1_024
    /// Failed accepts in a row after which trying on is taken for spinning.
    private static let maximumConsecutiveAcceptFailures = 16
    private static let memoryReturnNanoseconds: Int64 = 1_000_000_000
    private static let readLength = 64 * 1024

    let timeouts: TimeoutTable
    private let sweepNanoseconds: Int64
    private var poller: Poller
    private var listener: Listener?
    /// Given up for a moment when descriptors run out, so that a connection can be told so.
    private var spareDescriptor: Descriptor?
    private var acceptIsPaused = false
    private var isStopping = false
    private var nextSweep: MonotonicTime
    private var mayReturnMemoryAt: MonotonicTime
    let memory: RequestMemory

    /// Whether the last turn is done: who is free now has nothing more to wait for.
    private(set) var hasStopped = false

    var handler: (any RequestHandler)?
    var workers = WorkerPool()
    var table = ConnectionTable()
    var date = DateField()
    /// `nil` where TLS is not spoken.
    let tls: TLSEngine?
    /// What every read of the loop is read into; its connections copy from it.
    var readBuffer = [UInt8](repeating: 0, count: readLength)
    /// Connections with answers that leave when the turn ends: of those that wait for their peer, and of those whose
    /// next request a handler has.
    var unsent: [Connection] = []
    /// What there is to do, from `nextDuty` on, in the order in which it came up.
    var pendingWork: [Worker.WorkItem] = []
    var nextWorkItem = 0
    /// Connections with answers whose delivery is to be told.
    var watched: [Connection] = []
    /// Output buffers between uses.
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

    /// Turns the loop on this thread until it was stopped and its connections have ended.
    nonisolated func run() {
        var batch: [UnownedJob] = []
        var continues = true
        while continues {
            runReadyWork(&batch)
            continues = assumeIsolated { $0.turn() }
        }
        // What was cut off still has to let go of its socket.
        runReadyWork(&batch)
        assumeIsolated { $0.dismissWorkers() }
        while !executor.isQueueEmpty { executor.runQueuedJobs(&batch) }
        assumeIsolated { $0.handler = nil }
    }

    private nonisolated func runReadyWork(_ batch: inout [UnownedJob]) {
        repeat { executor.runQueuedJobs(&batch) } while assumeIsolated { $0.dispatchWork() }
    }

    func setHandler(_ handler: any RequestHandler) {
        self.handler = handler
    }
}

// MARK: - A turn

extension EventLoop {
    /// Waits for events and hands them out.
    ///
    /// Returns whether the loop goes on.
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

    /// Gives back what a flood has left behind; done too often, it would cost more than it gives.
    private func returnMemory(at now: MonotonicTime) {
        mayReturnMemoryAt = now.advanced(byNanoseconds: Self.memoryReturnNanoseconds)
        workers.dismissIdle()
        guard hasMemoryToReturn else { return }
        // What is free again is the allocator's, which would keep it.
        linux_return_memory()
        memory.memoryWasReturned()
        workers.memoryWasReturned()
    }

    private var hasMemoryToReturn: Bool {
        memory.hasMemoryToReturn || workers.hasMemoryToReturn
    }

    private func dismissWorkers() {
        hasStopped = true
        workers.dismissAll()
    }

    private func stop(at now: MonotonicTime) {
        if !isStopping {
            isStopping = true
            nextSweep = now
            // What is in the backlog would be reset with the listener.
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
            Connection.Handshake(
                deadline: now.advanced(byNanoseconds: timeouts.header),
                turnsAway: isTooMany
            )
        }
        table.insert(
            Connection(socket: Socket(descriptor), slot: slot, state: state, handshake: handshake)
        )
        counters.acceptedConnections.add(1)
        counters.openConnections.add(1)
        pendingWork.append(Worker.WorkItem(slot: slot, cause: .accepted(turnsAway: isTooMany)))
    }

    /// Forgets a connection and closes its socket.
    func close(_ connection: Connection) {
        table.remove(connection.slot)
        connection.state.abandon()
        if connection.tls != nil { memory.changeSessions(by: -1) }
        counters.openConnections.add(-1)
    }

    /// Lets the backlog wait until the next sweep: descriptors or memory ran out, and trying on would spin.
    ///
    /// The spare descriptor lets the first in the queue go, so that it learns of it.
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

    /// Answers 503 and closes, without waiting for anything.
    private func reject(_ socket: consuming Socket, peer: PeerAddress) {
        // Who speaks TLS would not understand it.
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
        // A request that has come is read, or its bytes would turn the close into a reset.
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
