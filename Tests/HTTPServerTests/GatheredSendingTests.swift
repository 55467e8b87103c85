import HTTPServer
import Support
import Testing
import Threads

/// Answers leave at the end of a loop's turn; what the socket does not take then is sent as its peer reads.
@Suite("Answers whose client does not read at once", .blocking)
struct GatheredSendingTests {
    /// More than the kernel takes off the server's hands.
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

    /// A client that has asked, and whose answer is on its way and stuck.
    private func stuckClient(of server: TestServer) async throws -> RawClient {
        let before = server.server.statistics.sentBytes
        let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
        client.send(get)
        #expect(await Polling.eventually { server.server.statistics.sentBytes > before })
        return client
    }

    @Test("are sent whole and in order, whenever the client reads, and whatever it asks meanwhile")
    func asksBeforeReading() async throws {
        try await run { server in
            let client = try await stuckClient(of: server)
            client.send(get + get)
            for _ in 0..<3 { #expect(try client.answerByteCount() == Self.byteCount) }
            client.send(get)
            #expect(try client.answerByteCount() == Self.byteCount)
        }
    }

    @Test("are not piled up: requests behind them wait until they were sent")
    func waitsWithMore() async throws {
        try await run(byteCount: 1_000_000) { server in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
            client.send(String(repeating: get, count: 200))
            // Others are answered beside it, long after all of it has come.
            let other = try server.connect()
            for _ in 0..<20 {
                other.send(get)
                #expect(try other.answerByteCount() == 1_000_000)
            }
            #expect(server.server.statistics.requests < 20 + 100, "what is not read is not made either")
            for _ in 0..<200 { #expect(try client.answerByteCount() == 1_000_000) }
        }
    }

    @Test("hold no more memory together than requests may: who waits beyond it is dropped")
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

    @Test("end with their connection when nothing of them was taken for as long as is allowed, and not later")
    func endInTime() async throws {
        try await run {
            $0.timeouts.write = .seconds(8)
        } during: { server in
            let client = try await stuckClient(of: server)
            let start = MonotonicTime.now()
            #expect(Polling.until { server.server.statistics.openConnections == 0 })
            // It was twice as long, because bytes that were taken before the wait began counted as progress.
            #expect(MonotonicTime.now().nanoseconds(since: start) < 15_500_000_000)
            client.close()
        }
    }

    @Test("are sent to their end by a server that stops, and nothing is answered after them")
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

    @Test("do not keep a server from stopping when the grace is over")
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
