import HTTPServer
import Support
import Testing
import Threads

/// Tests that the server sends responses at the end of a loop's turn (iteration), and the rest when the client reads.
@Suite("Responses whose client does not read at once", .blocking)
struct GatheredSendingTests {
    /// The length of a response of which the kernel does not buffer all bytes.
    private static let byteCount = 16_000_000

    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    private func run(
        byteCount: Int = Self.byteCount,
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        during test: (TestServer) async throws -> Void
    ) async throws {
        let body = [UInt8](repeating: 0x41, count: byteCount)
        try await TestServer.run(configure, answer: { _ in Response(.ok, body: body) }, during: test)
    }

    /// Creates a client that has sent a request and reads no byte of the response.
    private func stuckClient(of server: TestServer) async throws -> RawClient {
        let before = server.server.statistics.sentBytes
        let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
        client.send(get)
        #expect(await Polling.eventually { server.server.statistics.sentBytes > before })
        return client
    }

    @Test("are complete and in order when the client reads, also if it sends requests before")
    func asksBeforeReading() async throws {
        try await run { server in
            let client = try await stuckClient(of: server)
            client.send(get + get)
            for _ in 0..<3 { #expect(try client.answerByteCount() == Self.byteCount) }
            client.send(get)
            #expect(try client.answerByteCount() == Self.byteCount)
        }
    }

    @Test("delay later requests on the connection, so that responses do not gather in memory")
    func waitsWithMore() async throws {
        try await run(byteCount: 1_000_000) { server in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
            client.send(String(repeating: get, count: 200))
            // Another client still gets responses; when it has twenty, all requests of this client have long arrived.
            let other = try server.connect()
            for _ in 0..<20 {
                other.send(get)
                #expect(try other.answerByteCount() == 1_000_000)
            }
            #expect(
                server.server.statistics.requests < 20 + 100,
                "the handler gets no request whose response could not be sent"
            )
            for _ in 0..<200 { #expect(try client.answerByteCount() == 1_000_000) }
        }
    }

    @Test("use at most the configured memory; the server drops further connections that wait")
    func holdWithinLimit() async throws {
        try await run(byteCount: 60_000) {
            $0.requestMemoryByteCount = 1_000_000
        } during: { server in
            let clients = try (0..<40).map { _ in
                try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
            }
            for client in clients { client.send(String(repeating: get, count: 200)) }
            #expect(await Polling.eventually { server.server.statistics.openConnections <= 16 })
            let other = try server.connect()
            for _ in 0..<20 {
                other.send(get)
                #expect(try other.answerByteCount() == 60_000)
            }
        }
    }

    @Test("end with their connection when the client takes no byte for the write timeout")
    func endInTime() async throws {
        try await run {
            $0.timeouts.write = .seconds(8)
        } during: { server in
            let client = try await stuckClient(of: server)
            let start = MonotonicTime.now()
            #expect(Polling.until { server.server.statistics.openConnections == 0 })
            // The wait must not take twice the timeout: bytes that the client took before the wait do not
            // extend it.
            #expect(MonotonicTime.now().nanoseconds(since: start) < 15_500_000_000)
            client.close()
        }
    }

    @Test("are completed by a server that stops, which then answers no further request")
    func stops() async throws {
        try await run { server in
            let client = try await stuckClient(of: server)
            let stop = Background.start { server.server.stop(within: .seconds(600)) }
            #expect(await Polling.eventually { (try? RawClient(port: server.server.port)) == nil })
            #expect(try client.answerByteCount() == Self.byteCount)
            #expect(try client.rest() == "")
            await stop.pass()
            #expect(server.server.statistics.openConnections == 0)
        }
    }

    @Test("delay the server's stop by at most the grace period")
    func isCutOff() async throws {
        try await run { server in
            let client = try await stuckClient(of: server)
            server.server.stop(within: .milliseconds(50))
            server.server.waitUntilStopped()
            #expect(server.server.statistics.openConnections == 0)
            #expect(throws: (any Error).self) { try client.answerByteCount() }
        }
    }
}
