import HTTPServer
import Support
import Testing

@Suite("What became of an answer over TLS", .blocking)
struct TLSDeliveryTests {
    private func run(
        bodyByteCount: Int = 100,
        gate: Gate? = nil,
        during test: (TLSServer, DeliveryReports) async throws -> Void
    ) async throws {
        let reports = DeliveryReports()
        let answer: @Sendable (Request) async -> Response = { _ in
            await gate?.pass()
            var response = Response(.ok, body: [UInt8](repeating: 0x41, count: bodyByteCount))
            response.onDelivery = { reports.append($0) }
            return response
        }
        try await TLSServer.run(answer: answer) { try await test($0, reports) }
    }

    @Test(
        "an answer that was read is delivered, whether the client stays or closes",
        arguments: [TLSClientSettings.Version.tls12, .tls13],
        [true, false]
    )
    func read(version: TLSClientSettings.Version, closes: Bool) async throws {
        try await run { server, reports in
            let client = try server.visit(TLSClientSettings(version))
            if closes { client.close() }
            #expect(await reports.become([.delivered]))
            client.reset()
            #expect(await Polling.eventually { server.statistics.openConnections == 0 })
            #expect(reports.all == [.delivered])
        }
    }

    @Test(
        "a client that reads the last answer, leaves our goodbye unread and closes, which resets, was served",
        arguments: [TLSClientSettings.Version.tls12, .tls13]
    )
    func goodbyeUnread(version: TLSClientSettings.Version) async throws {
        for _ in 0..<20 {
            try await run { server, reports in
                let client = try server.connect(TLSClientSettings(version))
                _ = try client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                client.close()
                #expect(await reports.become([.delivered]))
            }
        }
    }

    @Test(
        "a client that was gone before the answer was written was not served",
        arguments: [TLSClientSettings.Version.tls12, .tls13],
        [true, false]
    )
    func goneBefore(version: TLSClientSettings.Version, resets: Bool) async throws {
        let gate = Gate()
        try await run(gate: gate) { server, reports in
            let client = try server.connect(TLSClientSettings(version))
            client.send(TLSServer.get)
            #expect(await Polling.eventually { gate.waitingCount == 1 })
            if resets { client.reset() } else { client.close() }
            gate.open()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("a client that resets in the middle of a long answer was not served")
    func resetWithin() async throws {
        try await run(bodyByteCount: 16_000_000) { server, reports in
            let client = try server.connectWithoutTLS(receiveBufferByteCount: 4_096)
            try client.beginTLS()
            let before = server.statistics.sentBytes
            client.send(TLSServer.get)
            #expect(await Polling.eventually { server.statistics.sentBytes > before })
            client.reset()
            #expect(await reports.become([.failed]))
        }
    }

    @Test("of two answers at once, the one that arrived whole is delivered, and the one cut off is not")
    func cutBetween() async throws {
        let reports = DeliveryReports()
        try await TLSServer.run(answer: { request in
            let isLong = request.path == "/long"
            var response = Response(.ok, body: [UInt8](repeating: 0x41, count: isLong ? 16_000_000 : 100))
            response.onDelivery = { reports.append($0) }
            return response
        }) { server in
            let client = try server.connectWithoutTLS(receiveBufferByteCount: 4_096)
            try client.beginTLS()
            _ = try client.ask(TLSServer.get + "GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
            client.reset()
            #expect(await reports.become([.delivered, .failed]))
        }
    }

    @Test("each of several answers is told of once, in order")
    func several() async throws {
        try await run { server, reports in
            let client = try server.connect()
            client.send(TLSServer.get + TLSServer.get + TLSServer.get)
            for _ in 0..<3 { _ = try client.answer() }
            client.close()
            #expect(await reports.become([.delivered, .delivered, .delivered]))
            #expect(await Polling.eventually { server.statistics.openConnections == 0 })
            #expect(reports.all.count == 3)
        }
    }
}
