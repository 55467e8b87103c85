import Dispatch
import Glibc
import HTTPServer
import Support
import Synchronization
import Testing
import Threads

@Suite("The port of a loop", .blocking)
struct LoopPortTests {
    private let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
    private let hold = "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"

    // MARK: Descriptors

    @Test("lets a handler answer from the bytes of a watched socket, on the loop's thread")
    func answersFromSocket() async throws {
        let pair = try SocketPair()
        try await TestServer.run(waiting: { port in
            let (client, thread) = (PortClient(port, pair), pthread_self())
            return ClosureHandler { _ in
                let text = await client.next()
                return Response(.ok, text: pthread_self() == thread ? text : "another thread")
            }
        }) { server in
            let client = try server.connect()
            for text in ["first", "second"] {
                client.send(get)
                pair.send(text)
                #expect(try client.answer().body == text)
            }
        }
    }

    @Test("sends a response in the turn in which a watch's handler resumes its request")
    func answersInTurn() async throws {
        let pair = try SocketPair()
        let isAnswered = DispatchSemaphore(value: 0)
        let wasInTurn = Atomic(false)
        try await TestServer.run(waiting: { port in
            let client = PortClient(port, pair)
            return ClosureHandler(
                answer: { _ in Response(.ok, text: await client.next()) },
                turn: {
                    guard client.resumedCount == 3 else { return }
                    client.resumedCount = 0
                    // The loop makes no further turn until the peers have the responses.
                    let result = isAnswered.wait(timeout: .now() + .seconds(Polling.seconds))
                    wasInTurn.store(result == .success, ordering: .relaxed)
                }
            )
        }) { server in
            let clients = try (0..<3).map { _ in try server.connect() }
            for client in clients { client.send(get) }
            #expect(await Polling.eventually { server.server.statistics.requests == 3 })
            pair.send("all")
            for client in clients { #expect(try client.answer().body == "all") }
            isAnswered.signal()
            #expect(await Polling.eventually { wasInTurn.load(ordering: .relaxed) })
        }
    }

    @Test(
        "passes no event of an ended watch to the next watch of the same descriptor number",
        arguments: [true, false]
    )
    func ignoresFormerEvents(unwatches: Bool) async throws {
        let (pairs, next) = (try [SocketPair(), SocketPair()], try SocketPair())
        let log = Mutex<[String]>([])
        let (isHeld, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try await TestServer.run(waiting: { port in
            for (pair, other) in [(pairs[0], pairs[1]), (pairs[1], pairs[0])] {
                port.watch(pair.near) { _ in
                    log.withLock { $0.append(pair.receive() ?? "nothing") }
                    if unwatches { port.unwatch(other.near) }
                    // This closes the other socket, whose event waits in the same batch.
                    next.moveNear(to: other.near)
                    port.watch(other.near) { _ in
                        log.withLock { $0.append(other.receive() ?? "nothing") }
                    }
                }
            }
            return ClosureHandler { request in
                if request.path == "/hold" {
                    isHeld.signal()
                    mayContinue.wait()
                }
                return Response(.ok)
            }
        }) { server in
            let client = try server.connect()
            client.send(hold)
            isHeld.wait()
            for pair in pairs { pair.send("former") }
            mayContinue.signal()
            #expect(try client.answer().status == 200)
            #expect(try client.ask(get).status == 200)
            #expect(log.withLock { $0 } == ["former"])
            next.send("next")
            #expect(await Polling.eventually { log.withLock { $0 == ["former", "next"] } })
        }
    }

    @Test(
        "does not report room for writing if the handler, called for reading, has ended this watch",
        arguments: [true, false]
    )
    func endsInside(unwatches: Bool) async throws {
        let pair = try SocketPair()
        let log = Mutex<[LoopPort.Readiness]>([])
        try await TestServer.run(waiting: { port in
            port.watch(pair.near) { readiness in
                log.withLock { $0.append(readiness) }
                _ = pair.receive()
                if unwatches { port.unwatch(pair.near) } else { port.setWatchesWriting(pair.near, false) }
            }
            // The socket is readable and writable in the loop's first turn.
            pair.send("x")
            port.setWatchesWriting(pair.near, true)
            return ClosureHandler { _ in Response(.ok) }
        }) { server in
            let client = try server.connect()
            #expect(try client.ask(get).status == 200)
            #expect(log.withLock { $0 } == [.reading])
            pair.send("y")
            #expect(try client.ask(get).status == 200)
            #expect(log.withLock { $0 } == (unwatches ? [.reading] : [.reading, .reading]))
        }
    }

    @Test("reports room for writing while the client watches for it, and only then")
    func writes() async throws {
        let pair = try SocketPair()
        let (byteCount, isFull) = (4_000_000, DispatchSemaphore(value: 0))
        try await TestServer.run(waiting: { port in
            let calls = Box(0)
            return ClosureHandler { request in
                guard request.path == "/x" else { return Response(.ok, text: "\(calls.value)") }
                var rest = byteCount
                await withCheckedContinuation { continuation in
                    port.watch(pair.near) { readiness in
                        guard readiness == .writing else { return }
                        calls.value += 1
                        rest -= pair.fill(atMost: rest)
                        isFull.signal()
                        guard rest == 0 else { return }
                        port.setWatchesWriting(pair.near, false)
                        continuation.resume()
                    }
                    port.setWatchesWriting(pair.near, true)
                }
                return Response(.ok, text: "\(calls.value)")
            }
        }) { server in
            let client = try server.connect()
            client.send(get)
            isFull.wait()
            #expect(pair.drain(byteCount))
            let count = try client.answer().body
            #expect(Int(count) ?? 0 > 1)
            #expect(try client.ask("GET /count HTTP/1.1\r\nHost: a\r\n\r\n").body == count)
        }
    }

    @Test("reports an end, and an error without an end, as readable", arguments: [true, false])
    func reportsErrors(isPipe: Bool) async throws {
        // The writing end of a pipe is never readable; it gets an error when the reader closes.
        let pair = try SocketPair(isPipe: isPipe)
        let hasEnded = Gate()
        try await TestServer.run(waiting: { port in
            port.watch(pair.near) { readiness in
                #expect(readiness == .reading)
                port.unwatch(pair.near)
                hasEnded.open()
            }
            return ClosureHandler { _ in Response(.ok) }
        }) { server in
            let client = try server.connect()
            #expect(try client.ask(get).status == 200)
            #expect(!hasEnded.isOpen)
            pair.closeFar()
            #expect(await Polling.eventually { hasEnded.isOpen })
        }
    }

    @Test("watches more descriptors than one batch of events can report")
    func watchesMany() async throws {
        let pair = try SocketPair()
        let descriptors = (0..<300).map { _ in dup(pair.near) }
        try #require(!descriptors.contains(-1))
        defer { for descriptor in descriptors { close(descriptor) } }
        let called = Mutex(Set<Int32>())
        try await TestServer.run(waiting: { port in
            for descriptor in descriptors {
                port.watch(descriptor) { _ in
                    port.unwatch(descriptor)
                    #expect(called.withLock { $0.insert(descriptor).inserted })
                }
            }
            return ClosureHandler { _ in Response(.ok) }
        }) { server in
            pair.send("x")
            #expect(await Polling.eventually { called.withLock { $0.count == descriptors.count } })
            let client = try server.connect()
            #expect(try client.ask(get).status == 200)
        }
    }

    @Test("answers other requests while one waits for a silent socket, and a watched socket has unread bytes")
    func stuckSocketDelaysNobody() async throws {
        let (silent, unread) = (try SocketPair(), try SocketPair())
        try await TestServer.run(waiting: { port in
            let client = PortClient(port, silent)
            port.watch(unread.near) { _ in }
            return ClosureHandler { request in
                Response(.ok, text: request.path == "/stuck" ? await client.next() : "at once")
            }
        }) { server in
            unread.send("unread")
            let stuck = try server.connect()
            stuck.send("GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await Polling.eventually { server.server.statistics.requests == 1 })
            for _ in 0..<100 {
                let client = try server.connect()
                #expect(try client.ask(get).body == "at once")
            }
            silent.send("late")
            #expect(try stuck.answer().body == "late")
        }
    }

    // MARK: Times

    @Test("wakes a handler at a time between two sweeps, and handlers in the order of their times")
    func wakes() async throws {
        try await TestServer.run({ $0.sweepInterval = .seconds(3_600) }) { port in
            ClosureHandler { _ in
                let start = MonotonicTime.now()
                let order = Box("")
                for milliseconds in [30, 10, 20] {
                    let time = start.advanced(by: .milliseconds(milliseconds))
                    port.wake(time) { order.value += "\(milliseconds) " }
                }
                // These times never come.
                for time in [.max, .max - 1] as [UInt64] {
                    port.wake(MonotonicTime(nanoseconds: time)) { order.value += "never " }
                }
                let end = start.advanced(by: .milliseconds(40))
                let isInTime = await withCheckedContinuation { continuation in
                    port.wake(end) { continuation.resume(returning: MonotonicTime.now() >= end) }
                }
                return Response(.ok, text: order.value + (isInTime ? "in time" : "too early"))
            }
        } during: { server in
            let client = try server.connect()
            #expect(try client.ask(get).body == "10 20 30 in time")
            client.close()
            // A stop with an open connection would wait for the next sweep.
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
        }
    }

    @Test("wakes a loop that has no connection, and at once if the time has passed")
    func wakesIdleLoop() async throws {
        let gates = (Gate(), Gate())
        try await TestServer.run(waiting: { port in
            port.wake(.now().advanced(by: .milliseconds(20))) {
                gates.0.open()
                port.wake(MonotonicTime(nanoseconds: 0)) { gates.1.open() }
            }
            return ClosureHandler { _ in Response(.ok) }
        }) { _ in
            #expect(await Polling.eventually { gates.0.isOpen && gates.1.isOpen })
        }
    }

    @Test("serves requests although a handler always requests a further call at once")
    func wakesEachTurn() async throws {
        let count = Atomic(0)
        try await TestServer.run(waiting: { port in
            func request() {
                port.wake(MonotonicTime(nanoseconds: 0)) {
                    count.add(1, ordering: .relaxed)
                    request()
                }
            }
            request()
            return ClosureHandler { _ in Response(.ok) }
        }) { server in
            for _ in 0..<100 {
                let client = try server.connect()
                #expect(try client.ask(get).status == 200)
            }
            #expect(count.load(ordering: .relaxed) > 100)
        }
    }

    // MARK: The end

    @Test("works until a graceful stop has answered the last request")
    func worksDuringStop() async throws {
        let pair = try SocketPair()
        try await TestServer.run(waiting: { port in
            let client = PortClient(port, pair)
            return ClosureHandler { _ in Response(.ok, text: await client.next()) }
        }) { server in
            let client = try server.connect()
            client.send(get)
            #expect(await Polling.eventually { server.server.statistics.requests == 1 })
            let stop = Background.start { server.server.stop(within: .seconds(600)) }
            #expect(await Polling.eventually { (try? RawClient(port: server.server.port)) == nil })
            pair.send("late")
            #expect(try client.answer().body == "late")
            client.close()
            await stop.pass()
        }
    }

    @Test("ends all watches when the loop ends, after which a client may still call the port")
    func endsWithLoop() async throws {
        let pair = try SocketPair()
        let isReleased = Gate()
        try await TestServer.run(waiting: { port in
            let client = PortClient(port, pair, isReleased)
            return ClosureHandler { _ in Response(.ok, text: client.resumedCount.description) }
        }) { server in
            let client = try server.connect()
            #expect(try client.ask(get).body == "0")
            await Background.run { server.server.stop(within: .milliseconds(200)) }
            #expect(isReleased.isOpen)
        }
    }

    @Test("releases a client whose last reference is the handler of its watch, when the watch ends")
    func releasesClient() async throws {
        let pair = try SocketPair()
        let isReleased = Gate()
        try await TestServer.run(waiting: { port in
            _ = PortClient(port, pair, isReleased)
            return ClosureHandler { _ in
                port.unwatch(pair.near)
                return Response(.ok)
            }
        }) { server in
            #expect(!isReleased.isOpen)
            let client = try server.connect()
            #expect(try client.ask(get).status == 200)
            #expect(isReleased.isOpen)
        }
    }

    @Test("ends the watches of one loop if another loop's handler cannot be created")
    func endsWithFailedStart() async throws {
        struct Refusal: Error {}
        let pair = try SocketPair()
        let isReleased = Gate()
        let address = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0))
        let configuration = HTTPServerConfiguration(listenAddress: address, loopCount: 2)
        let server = try WebServer(configuration) { loop, port in
            guard loop == 0 else { throw Refusal() }
            _ = PortClient(port, pair, isReleased)
            return ClosureHandler { _ in Response(.ok) }
        }
        #expect(throws: StartError.self) { try server.start() }
        server.waitUntilStopped()
        #expect(isReleased.isOpen)
    }
}

// MARK: - Clients of the port

/// A client on one loop; when its socket gets a text, all requests that wait get this text.
private final class PortClient {
    private let port: LoopPort
    private let pair: SocketPair
    private let isReleased: Gate?
    private var waiting: [CheckedContinuation<String, Never>] = []
    var resumedCount = 0

    init(_ port: LoopPort, _ pair: SocketPair, _ isReleased: Gate? = nil) {
        self.port = port
        self.pair = pair
        self.isReleased = isReleased
        // The closure keeps this object alive as long as the loop watches the socket.
        port.watch(pair.near) { _ in
            guard !self.waiting.isEmpty, let text = pair.receive() else { return }
            for continuation in self.waiting { continuation.resume(returning: text) }
            self.resumedCount += self.waiting.count
            self.waiting = []
        }
    }

    deinit {
        port.unwatch(pair.near)
        port.watch(pair.near) { _ in }
        port.setWatchesWriting(pair.near, true)
        port.wake(.now()) {}
        port.unwatch(pair.near)
        isReleased?.open()
    }

    func next() async -> String { await withCheckedContinuation { waiting.append($0) } }
}

/// A variable of the loop's thread.
private final class Box<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}
