import Dispatch
import HTTPServer
import Support
import Synchronization
import Testing

@Suite("A turn of a loop", .blocking)
struct TurnTests {
    @Test("ends, and its handler is told, however long a request has something to do at once")
    func endsUnderLoad() async throws {
        let counter = TurnCounter()
        let configuration = HTTPServerConfiguration(
            listenAddress: ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0)),
            loopCount: 1
        )
        let server = try WebServer(configuration) { _ in
            ClosureHandler(
                answer: { _ in
                    let first = counter.count
                    // The loop has a job in each of its turns; a hundred of them end, or the test does.
                    while counter.count < first + 100 { await Task.yield() }
                    return Response(.ok, text: "done")
                },
                turn: { counter.note() }
            )
        }
        try server.start()
        defer { server.stop(within: .milliseconds(200)) }
        let client = try RawClient(port: server.port)
        #expect(try client.ask("GET /x HTTP/1.1\r\nHost: a\r\n\r\n").body == "done")
    }

    @Test("begins with the number of connections that have something to say")
    func tellsConnections() async throws {
        let begun = Mutex<[Int]>([])
        let (held, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let configuration = HTTPServerConfiguration(
            listenAddress: ListenAddress(PeerAddress(ipv4: 0x7F00_0001, port: 0)),
            loopCount: 1
        )
        let server = try WebServer(configuration) { _ in
            ClosureHandler(
                answer: { request in
                    if request.path == "/hold" {
                        held.signal()
                        goesOn.wait()
                    }
                    return Response(.ok, text: request.path)
                },
                begin: { count in begun.withLock { $0.append(count) } }
            )
        }
        try server.start()
        defer { server.stop(within: .milliseconds(200)) }
        let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
        for client in clients {
            #expect(try client.ask("GET /known HTTP/1.1\r\nHost: a\r\n\r\n").body == "/known")
        }
        clients[0].send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        held.wait()
        // While the loop does something else, three of them ask.
        for client in clients.dropFirst() { client.send("GET /asks HTTP/1.1\r\nHost: a\r\n\r\n") }
        begun.withLock { $0 = [] }
        goesOn.signal()
        #expect(try clients[0].answer().body == "/hold")
        for client in clients.dropFirst() { #expect(try client.answer().body == "/asks") }
        #expect(begun.withLock { $0.first } == 3)
    }
}

/// Counts the turns of a loop.
private final class TurnCounter: Sendable {
    private let turns = Atomic(0)

    var count: Int { turns.load(ordering: .relaxed) }

    func note() { turns.wrappingAdd(1, ordering: .relaxed) }
}
