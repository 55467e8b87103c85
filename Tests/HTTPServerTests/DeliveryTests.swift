import HTTPServer
import Support
import Synchronization
import Testing

@Suite("What became of an answer", .blocking)
struct DeliveryTests {
    /// A server whose answers report their delivery, and hold back at a gate where a test wants it.
    private func run(
        bodyByteCount: Int = 100,
        gate: Gate? = nil,
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        during test: (TestServer, DeliveryReports) async throws -> Void
    ) async throws {
        let reports = DeliveryReports()
        try await TestServer.run(
            configure,
            answer: { _ in
                await gate?.pass()
                var response = Response(.ok, body: [UInt8](repeating: 0x41, count: bodyByteCount))
                response.onDelivery = { reports.append($0) }
                return response
            },
            during: { try await test($0, reports) }
        )
    }

    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("an answer that was read and kept is delivered, without a next request or an end")
    func acknowledged() async throws {
        try await run { server, reports in
            let client = try server.connect()
            client.send(get)
            _ = try client.answer()
            #expect(await reports.become([.delivered]))
        }
    }

    @Test("a client that read the answer and then reset the connection was served")
    func readThenReset() async throws {
        for _ in 0..<20 {
            try await run { server, reports in
                let client = try server.connect()
                client.send(get)
                _ = try client.answer()
                client.reset()
                #expect(await reports.become([.delivered]))
            }
        }
    }

    @Test("a client that read the answer and closed was served", arguments: ["", "Connection: close\r\n"])
    func readThenClosed(field: String) async throws {
        try await run { server, reports in
            let client = try server.connect()
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n")
            _ = try client.answer()
            client.close()
            #expect(await reports.become([.delivered]))
        }
    }

    @Test("a client that was gone before the answer was written was not served")
    func resetBefore() async throws {
        let gate = Gate()
        try await run(gate: gate) { server, reports in
            let client = try server.connect()
            client.send(get)
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            client.reset()
            gate.open()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("a client that had closed before the answer was written was not served: its kernel says so")
    func closedBefore() async throws {
        let gate = Gate()
        try await run(gate: gate) { server, reports in
            let client = try server.connect()
            client.send(get)
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            client.close()
            gate.open()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("a client that closed its side only, and read, was served")
    func halfClosed() async throws {
        try await run { server, reports in
            let client = try server.connect()
            client.send(get)
            client.endSending()
            _ = try client.answer()
            #expect(await reports.become([.delivered]))
        }
    }

    @Test("a client that resets in the middle of a long answer was not served")
    func resetWithin() async throws {
        try await run(bodyByteCount: 16_000_000) { server, reports in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
            client.send(get)
            #expect(await Polling.eventually { server.server.statistics.sentBytes > 0 })
            client.reset()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("a client that stops reading a long answer was not served")
    func stuck() async throws {
        try await run(bodyByteCount: 16_000_000) {
            $0.timeouts.write = .milliseconds(50)
        } during: { server, reports in
            let client = try RawClient(port: server.server.port, receiveBufferByteCount: 4_096)
            client.send(get)
            #expect(await reports.become([.failed]))
            client.close()
        }
    }

    @Test("each of several answers is told of once, in order")
    func several() async throws {
        try await run { server, reports in
            let client = try server.connect()
            client.send(get + get + get)
            for _ in 0..<3 { _ = try client.answer() }
            client.send(get)
            _ = try client.answer()
            client.close()
            #expect(await reports.become([.delivered, .delivered, .delivered, .delivered]))
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
            #expect(reports.all.count == 4)
        }
    }
}

/// What was told, in order.
final class DeliveryReports: Sendable {
    private let deliveries = Mutex<[Delivery]>([])

    var all: [Delivery] { deliveries.withLock { $0 } }

    func append(_ delivery: Delivery) { deliveries.withLock { $0.append(delivery) } }

    func become(_ expected: [Delivery]) async -> Bool {
        let came = await Polling.eventually { all.count >= expected.count }
        return came && all == expected
    }
}
