import HTTPServer
import Support
import Testing
import Threads

@Suite("A graceful stop", .blocking)
struct StopTests {
    private let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("answers a handler's current request with Connection: close, and accepts no more connections")
    func answersInFlight() async throws {
        let gate = Gate()
        try await TestServer.answering { _ in
            await gate.pass()
            return Response(.ok, text: "late")
        } during: { server in
            let client = try server.connect()
            client.send(get)
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            let stop = Background.start { server.server.stop(within: .seconds(600)) }
            #expect(await Polling.eventually { (try? RawClient(port: server.server.port)) == nil })
            gate.open()
            let answer = try client.answer()
            #expect(answer.body == "late")
            #expect(answer.field("connection") == "close")
            client.close()
            await stop.pass()
            #expect(server.server.statistics.openConnections == 0)
        }
    }

    @Test("ends when the grace is over, whatever a handler does")
    func isBounded() async throws {
        let gate = Gate()
        try await TestServer.answering { _ in
            await gate.pass()
            return Response(.ok)
        } during: { server in
            let client = try server.connect()
            client.send(get)
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            server.server.stop(within: .milliseconds(50))
            server.server.waitUntilStopped()
        }
    }

    @Test("closes connections whose requests do not end in time")
    func cutsOffBegun() async throws {
        try await TestServer.run { server in
            let clients = try (0..<5).map { _ in try server.connect() }
            for client in clients {
                client.send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
            }
            #expect(await Polling.eventually { server.server.statistics.openConnections == clients.count })
            #expect(await Polling.eventually { server.server.statistics.receivedBytes == 5 * 50 })
            await Background.run { server.server.stop(within: .milliseconds(50)) }
            server.server.waitUntilStopped()
            #expect(server.server.statistics.openConnections == 0)
        }
    }

    @Test("ends sooner after a second call with a shorter grace")
    func hurries() async throws {
        try await TestServer.run { server in
            let client = try server.connect()
            client.send("GET / HT")
            #expect(await Polling.eventually { server.server.statistics.receivedBytes > 0 })
            let start = MonotonicTime.now()
            let stop = Background.start { server.server.stop(within: .seconds(3600)) }
            #expect(await Polling.eventually { (try? RawClient(port: server.server.port)) == nil })
            server.server.stop(within: .zero)
            #expect(await Polling.eventually { stop.isOpen })
            #expect(MonotonicTime.now().nanoseconds(since: start) < 20_000_000_000)
        }
    }
}
