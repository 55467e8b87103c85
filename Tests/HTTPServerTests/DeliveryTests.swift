import HTTPServer
import Support
import Synchronization
import Testing

@Suite("Reports about the delivery of responses", .blocking)
struct DeliveryTests {
    typealias Version = TLSClientSettings.Version

    /// The versions of TLS, and nil for HTTP without TLS.
    private static let versions: [Version?] = [nil, .tls12, .tls13]

    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Runs a server that reports the delivery of its responses; each response waits until the gate, if any, opens.
    private func run(
        _ version: Version? = nil,
        bodyByteCount: @escaping @Sendable (Request) -> Int = { _ in 100 },
        gate: Gate? = nil,
        _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        during test: (TestServer, DeliveryReports) async throws -> Void
    ) async throws {
        let reports = DeliveryReports()
        let tls = try version.map { _ in
            let certificate = try TestCertificate()
            return try TLSTermination(certificatePEM: certificate.certificate, keyPEM: certificate.key)
        }
        try await TestServer.run(
            { configuration in
                configuration.tls = tls
                configure(&configuration)
            },
            answer: { request in
                await gate?.pass()
                var response = Response(.ok, body: [UInt8](repeating: 0x41, count: bodyByteCount(request)))
                response.onDelivery = { reports.append($0) }
                return response
            },
            during: { try await test($0, reports) }
        )
    }

    private func connect(
        to server: TestServer,
        _ version: Version? = nil,
        receiveBufferByteCount: Int32? = nil
    ) throws -> RawClient {
        let client = try RawClient(port: server.server.port, receiveBufferByteCount: receiveBufferByteCount)
        if let version { try client.beginTLS(TLSClientSettings(version)) }
        return client
    }

    @Test("delivered: the client read the response and stays or closes", arguments: versions, [true, false])
    func read(version: Version?, closes: Bool) async throws {
        try await run(version) { server, reports in
            let client = try connect(to: server, version)
            _ = try client.ask(get)
            if closes { client.close() }
            #expect(await reports.become([.delivered]))
            client.reset()
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
            #expect(reports.all == [.delivered])
        }
    }

    @Test("delivered: the client read the response and then reset the connection")
    func readThenReset() async throws {
        for _ in 0..<20 {
            try await run { server, reports in
                let client = try connect(to: server)
                _ = try client.ask(get)
                client.reset()
                #expect(await reports.become([.delivered]))
            }
        }
    }

    // Over TLS, the client does not read the server's close_notify, so its kernel sends a reset when it closes.
    @Test("delivered: the client read the last response and closed", arguments: versions)
    func readLast(version: Version?) async throws {
        for _ in 0..<20 {
            try await run(version) { server, reports in
                let client = try connect(to: server, version)
                _ = try client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                client.close()
                #expect(await reports.become([.delivered]), "\(reports.all)")
            }
        }
    }

    // When a client has closed its socket, its kernel answers the response with a reset.
    @Test("failed: the client reset or closed before the response", arguments: versions, [true, false])
    func goneBefore(version: Version?, resets: Bool) async throws {
        let gate = Gate()
        try await run(version, gate: gate) { server, reports in
            let client = try connect(to: server, version)
            client.send(get)
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            if resets { client.reset() } else { client.close() }
            gate.open()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("delivered: the client closed only its sending side, and read the response")
    func halfClosed() async throws {
        try await run { server, reports in
            let client = try connect(to: server)
            client.send(get)
            client.endSending()
            _ = try client.answer()
            #expect(await reports.become([.delivered]))
        }
    }

    @Test("failed: the client reset the connection in the middle of a long response", arguments: versions)
    func resetWithin(version: Version?) async throws {
        try await run(version, bodyByteCount: { _ in 16_000_000 }) { server, reports in
            let client = try connect(to: server, version, receiveBufferByteCount: 4_096)
            let before = server.server.statistics.sentBytes
            client.send(get)
            #expect(await Polling.eventually { server.server.statistics.sentBytes > before })
            client.reset()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("failed: the client stopped reading a long response")
    func stuck() async throws {
        try await run(bodyByteCount: { _ in 16_000_000 }) {
            $0.timeouts.write = .milliseconds(50)
        } during: { server, reports in
            let client = try connect(to: server, receiveBufferByteCount: 4_096)
            client.send(get)
            #expect(await reports.become([.failed]))
            client.close()
        }
    }

    @Test(
        "of two responses, the complete one is reported as delivered, and the one that was cut off as failed"
    )
    func cutBetween() async throws {
        let byteCount = { @Sendable (request: Request) in request.path == "/long" ? 16_000_000 : 100 }
        try await run(.tls13, bodyByteCount: byteCount) { server, reports in
            let client = try connect(to: server, .tls13, receiveBufferByteCount: 4_096)
            _ = try client.ask(get + "GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
            client.reset()
            #expect(await reports.become([.delivered, .failed]))
        }
    }

    // A watched connection that has ended must not keep its socket open until the next sweep.
    @Test("a connection closes at once after its last response, even if an earlier response was watched")
    func closesAtOnce() async throws {
        try await TestServer.run {
            $0.sweepInterval = .seconds(600)
        } answer: { request in
            var response = Response(.ok, text: "a")
            if request.path == "/watched" { response.onDelivery = { _ in } }
            return response
        } during: { server in
            let client = try RawClient(port: server.server.port)
            _ = try client.ask("GET /watched HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.rest().isEmpty)
        }
    }

    @Test("several responses are reported once each, in their order", arguments: versions)
    func several(version: Version?) async throws {
        try await run(version) { server, reports in
            let client = try connect(to: server, version)
            client.send(get + get + get)
            for _ in 0..<3 { _ = try client.answer() }
            _ = try client.ask(get)
            client.close()
            #expect(await reports.become([.delivered, .delivered, .delivered, .delivered]))
            #expect(await Polling.eventually { server.server.statistics.openConnections == 0 })
            #expect(reports.all.count == 4)
        }
    }
}

/// The reports of deliveries, in their order.
private final class DeliveryReports: Sendable {
    private let deliveries = Mutex<[Delivery]>([])

    var all: [Delivery] { deliveries.withLock { $0 } }

    func append(_ delivery: Delivery) { deliveries.withLock { $0.append(delivery) } }

    func become(_ expected: [Delivery]) async -> Bool {
        let isComplete = await Polling.eventually { all.count >= expected.count }
        return isComplete && all == expected
    }
}
