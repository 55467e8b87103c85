import Dispatch
import HTTPServer
import Support
import Synchronization
import Testing

@Suite("A turn of a loop", .blocking)
struct TurnTests {
    @Test("ends with a call of the handler, even if a request always has a job for the loop")
    func endsUnderLoad() async throws {
        let turns = Mutex(0)
        try await TestServer.run {
            ClosureHandler(
                answer: { _ in
                    let first = turns.withLock { $0 }
                    // The loop has a job in each turn. The request ends after a hundred turns.
                    while turns.withLock({ $0 < first + 100 }) { await Task.yield() }
                    return Response(.ok, text: "done")
                },
                turn: { turns.withLock { $0 += 1 } }
            )
        } during: { server in
            let client = try server.connect()
            #expect(try client.ask("GET /x HTTP/1.1\r\nHost: a\r\n\r\n").body == "done")
        }
    }

    @Test("begins with a call of the handler, which gets the number of connections that have work")
    func countsConnections() async throws {
        let counts = Mutex<[Int]>([])
        let (isHeld, mayContinue) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try await TestServer.run {
            ClosureHandler(
                answer: { request in
                    if request.path == "/hold" {
                        isHeld.signal()
                        mayContinue.wait()
                    }
                    return Response(.ok, text: request.path)
                },
                begin: { count in counts.withLock { $0.append(count) } }
            )
        } during: { server in
            let clients = try (0..<4).map { _ in try server.connect() }
            for client in clients {
                #expect(try client.ask("GET /first HTTP/1.1\r\nHost: a\r\n\r\n").body == "/first")
            }
            clients[0].send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            isHeld.wait()
            // The handler blocks the loop while three clients send a request.
            for client in clients.dropFirst() { client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n") }
            counts.withLock { $0 = [] }
            mayContinue.signal()
            #expect(try clients[0].answer().body == "/hold")
            for client in clients.dropFirst() { #expect(try client.answer().body == "/next") }
            #expect(counts.withLock { $0.first } == 3)
        }
    }
}
