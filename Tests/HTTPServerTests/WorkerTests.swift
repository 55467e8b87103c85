import HTTPServer
import Support
import Testing

@Suite("The workers of a loop", .blocking)
struct WorkerTests {
    private let get = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("are as many as the concurrent requests, and then serve the same connections again")
    func crowd() async throws {
        let gate = Gate()
        try await TestServer.answering { _ in
            await gate.pass()
            return Response(.ok, text: "late")
        } during: { server in
            let clients = try (0..<300).map { _ in try server.connect() }
            for client in clients { client.send(get) }
            #expect(await Polling.eventually { gate.waitingCount == clients.count })
            gate.open()
            for client in clients { #expect(try client.answer().body == "late") }
            for client in clients { client.send(get) }
            for client in clients { #expect(try client.answer().body == "late") }
            #expect(server.server.statistics.acceptedConnections == clients.count)
        }
    }

    @Test("end with their loop, which frees its memory")
    func endWithLoop() async throws {
        weak var heldByLoop: TLSTermination?
        try await TLSServer.run { server in
            heldByLoop = server.termination
            let client = try server.connectWithoutTLS()
            #expect(try client.ask(get).status == 400)
        }
        // The loop's thread is the last to release the TLS termination.
        #expect(await Polling.eventually { heldByLoop == nil })
    }
}
