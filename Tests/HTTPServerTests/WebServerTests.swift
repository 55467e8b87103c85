import Glibc
import HTTPServer
import Support
import Synchronization
import Testing

@Suite("A server on a socket", .blocking)
struct WebServerTests {
    private let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("answers requests on one connection")
    func keepsAlive() async throws {
        try await TestServer.run { server in
            let client = try server.connect()
            for _ in 0..<3 {
                let answer = try client.ask(get)
                #expect(answer.status == 200)
                #expect(answer.body == "GET /x")
                #expect(answer.field("date")?.hasSuffix("GMT") == true)
                #expect(answer.field("x-content-type-options") == "nosniff")
                #expect(answer.field("content-type") == "text/plain; charset=utf-8")
                #expect(answer.field("server") == nil)
                #expect(answer.field("connection") == nil)
            }
            #expect(server.server.statistics.requests == 3)
            #expect(server.server.statistics.acceptedConnections == 1)
        }
    }

    @Test("accepts IPv4 on an IPv6 socket, and passes the peer's address to the handler")
    func namesPeer() async throws {
        let peers = Mutex<[PeerAddress]>([])
        try await TestServer.run(
            { $0.listenAddress = ListenAddress(PeerAddress(high: 0, low: 0, port: 0)) },
            answer: { request in
                peers.withLock { $0.append(request.peer) }
                return Response(.ok)
            },
            during: { server in
                let client = try server.connect()
                _ = try client.ask(get)
                let peer = try #require(peers.withLock { $0.first })
                #expect(peer.ipv4 == 0x7F00_0001)
                #expect(peer.port > 0)
            }
        )
    }

    @Test("refuses an address on which a server already listens")
    func refusesUsedAddress() async throws {
        try await TestServer.run { server in
            let configuration = HTTPServerConfiguration(listenAddress: server.server.listenAddress)
            #expect(throws: StartError.self) { try WebServer(configuration) { _, _ in EmptyHandler() } }
        }
    }

    @Test("does not start if a handler cannot be created, and reports the error")
    func refusesToStart() throws {
        struct Broken: Error {}
        let address = ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0))
        let server = try WebServer(HTTPServerConfiguration(listenAddress: address, loopCount: 2)) { loop, _ in
            guard loop == 0 else { throw Broken() }
            return EmptyHandler()
        }
        let error = #expect(throws: StartError.self) { try server.start() }
        #expect(error?.cause == .handler)
        #expect(error?.underlying is Broken)
        server.waitUntilStopped()
    }

    // MARK: Requests in every shape

    @Test("answers 64 pipelined requests in order, although other threads complete their responses")
    func pipelines() async throws {
        try await TestServer.answering { request in
            await Background.run {}
            return Response(.ok, text: request.path)
        } during: { server in
            let client = try server.connect()
            client.send((0..<64).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
            for number in 0..<64 { #expect(try client.answer().body == "/\(number)") }
        }
    }

    @Test("sends a response while the handler still has a later, pipelined request")
    func sendsGathered() async throws {
        let gate = Gate()
        try await TestServer.answering { request in
            if request.path == "/2" { await gate.pass() }
            return Response(.ok, text: request.path)
        } during: { server in
            let client = try server.connect()
            #expect(
                try client.ask("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n").body
                    == "/1"
            )
            gate.open()
            #expect(try client.answer().body == "/2")
        }
    }

    @Test("answers a request that arrives byte by byte")
    func byteByByte() async throws {
        try await TestServer.run { server in
            let client = try server.connect()
            for byte in "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8 {
                client.send([byte])
            }
            #expect(try client.answer().body == "POST /b [abc]")
        }
    }

    @Test("sends the whole response to a client that has closed its sending side, and then closes")
    func halfClosed() async throws {
        // The kernel does not buffer the whole body, so the server must wait before it sends the rest.
        let body = [UInt8](repeating: 0x41, count: 16_000_000)
        try await TestServer.answering { _ in
            Response(.ok, body: body)
        } during: { server in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 65_536)
            client.send(get)
            client.endSending()
            #expect(try client.answer().body.utf8.count == body.count)
            #expect(try client.rest() == "")
        }
    }

    @Test(
        "answers a malformed request with its status and a sentence, and closes",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET /\r\n", 400),
            ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
            ("GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\n", 414),
            ("GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 100_000))\r\n", 431),
            ("GET / HTTP/1.1\r\n\(String(repeating: "A: b\r\n", count: 10_000))", 431),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\nExpect: 100-continue\r\n\r\n", 413),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 800000\r\n\r\n\(String(repeating: "b", count: 800_000))",
                413
            ),
            ("POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417),
        ]
    )
    func refuses(bytes: String, status: Int) async throws {
        try await TestServer.run { server in
            let client = try server.connect()
            client.send(bytes)
            client.endSending()
            let answer = try client.answer()
            #expect(answer.status == status)
            #expect(answer.field("connection") == "close")
            #expect(answer.body.hasSuffix(".\n"))
            #expect(try client.rest() == "", "the server sends no byte after the last response")
            #expect(server.server.statistics.rejections == [Status(status): 1])
        }
    }

    @Test(
        "answers a malformed HEAD without a body",
        arguments: [
            ("HEAD / HTTP/1.1\r\n\r\n", 400), ("HEAD / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417),
            ("HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413),
            ("HEAD /\(String(repeating: "a", count: 9_000))", 414), ("HEAD / HTTP/1.1\r\nHost: a\r\n", 400),
        ]
    )
    func refusesHead(bytes: String, status: Int) async throws {
        try await TestServer.run { server in
            let client = try server.connect()
            client.send("\(get)\(bytes)")
            client.endSending()
            #expect(try client.answer().status == 200)
            let answer = try client.answer(toHead: true)
            #expect(answer.status == status)
            let length = answer.field("content-length").flatMap { Int($0) } ?? 0
            #expect(length > 0)
            #expect(try client.rest() == "")
        }
    }

    // MARK: Time

    @Test(
        "answers a request that does not end in time with 408, and closes",
        arguments: ["GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"]
    )
    func tooSlow(start: String) async throws {
        try await TestServer.run { configuration in
            configuration.timeouts.header = .milliseconds(50)
            configuration.timeouts.body = .milliseconds(50)
        } during: { server in
            let client = try server.connect()
            #expect(try client.ask(start).status == 408)
            #expect(try client.rest() == "")
        }
    }

    @Test("closes an idle connection without a response")
    func idle() async throws {
        try await TestServer.run {
            // On a busy machine, a client may need a second to send its request.
            $0.timeouts.idle = .seconds(2)
        } during: { server in
            let silent = try server.connect()
            #expect(try silent.rest() == "")
            let served = try server.connect()
            #expect(try served.ask(get).status == 200)
            #expect(try served.rest() == "")
        }
    }

    @Test("drops a peer that takes no byte of its response for too long")
    func dropsStuckReader() async throws {
        let body = [UInt8](repeating: 0x41, count: 16_000_000)
        try await TestServer.run {
            $0.timeouts.write = .milliseconds(100)
        } answer: { _ in
            Response(.ok, body: body)
        } during: { server in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
            client.send(get)
            #expect(await Polling.eventually { server.server.statistics.requests == 1 })
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
        }
    }

    @Test("closes a refused connection soon, even if the client does not close")
    func lingersBriefly() async throws {
        try await TestServer.run {
            $0.timeouts.linger = .milliseconds(100)
        } during: { server in
            let client = try server.connect()
            #expect(try client.ask("bad\n").status == 400)
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
        }
    }

    // MARK: Many

    @Test("answers a connection above the limit with 503, and keeps the other connections")
    func limitsConnections() async throws {
        try await TestServer.run {
            $0.maximumConnections = 2
        } during: { server in
            let first = try server.connect()
            _ = try first.ask(get)
            let second = try server.connect()
            _ = try second.ask(get)
            let third = try server.connect()
            let refusal = try third.answer()
            #expect(refusal.status == 503)
            #expect(refusal.field("retry-after") == "1")
            #expect(try third.rest() == "")
            #expect(try first.ask(get).status == 200)
            second.close()
            #expect(await Polling.eventually { server.server.statistics.openConnections == 1 })
            let fourth = try server.connect()
            #expect(try fourth.ask(get).status == 200)
            #expect(server.server.statistics.turnedAwayConnections == 1)
        }
    }

    @Test("keeps no more refused connections open than the limit of these")
    func limitsRefusedConnections() async throws {
        try await TestServer.run {
            $0.maximumConnections = 1
            $0.maximumRefusedConnections = 1
            $0.timeouts.linger = .seconds(600)
        } during: { server in
            let first = try server.connect()
            #expect(try first.ask(get).status == 200)
            let second = try server.connect()
            #expect(try second.answer().status == 503)
            for _ in 0..<3 {
                let next = try server.connect()
                #expect(try next.answer().status == 503)
                #expect(try next.rest() == "")
                next.close()
            }
            // The server reads from the second connection until the client closes it.
            #expect(server.server.statistics.openConnections == 2)
            #expect(server.server.statistics.turnedAwayConnections == 4)
            #expect(try first.ask(get).status == 200)
            second.close()
        }
    }

    @Test("runs a handler on its loop's thread before and after the handler suspends")
    func staysOnLoop() async throws {
        let gate = Gate()
        let turns = Atomic<Int>(0)
        try await TestServer.run {
            let thread = pthread_self()
            return ClosureHandler(
                answer: { _ in
                    let isBefore = pthread_self() == thread
                    await gate.pass()
                    let isAfter = pthread_self() == thread
                    return Response(.ok, text: isBefore && isAfter ? "same thread" : "another thread")
                },
                turn: { turns.add(1, ordering: .relaxed) }
            )
        } during: { server in
            let clients = try (0..<8).map { _ in try server.connect() }
            for client in clients { client.send(get) }
            #expect(await Polling.eventually { gate.waitingCount == 8 })
            gate.open()
            for client in clients { #expect(try client.answer().body == "same thread") }
            #expect(turns.load(ordering: .relaxed) > 0)
        }
    }
}

private final class EmptyHandler: RequestHandler {
    func respond(to request: Request) async -> Response { Response(.noContent) }
}
