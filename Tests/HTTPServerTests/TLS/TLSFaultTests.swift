import Foundation
import HTTPServer
import Support
import Testing
import Threads

@Suite("TLS under attack", .blocking)
struct TLSFaultTests {
    private static let rounds = ProcessInfo.processInfo.environment["AFTERLINK_LONG"] == nil ? 150 : 20_000

    /// A client's first flight, as OpenSSL sends it with TLS 1.3.
    private func clientHello() throws -> [UInt8] { try ClientHello.bytes() }

    @Test("HTTP without TLS is told so in plain text, without a promise that only https may make")
    func plainText() async throws {
        try await TLSServer.run { server in
            for request in [TLSServer.get, "POST /x HTTP/1.1\r\n", "G", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
                let client = try server.connectWithoutTLS()
                client.send(request)
                let answer = try client.answer()
                #expect(answer.status == 400 && answer.body.contains("HTTPS"))
                #expect(answer.field("strict-transport-security") == nil)
                #expect(answer.field("connection") == "close")
                #expect(try client.rest() == "")
            }
            #expect(server.statistics.requests == 0)
            let visitor = try server.visit()
            #expect(visitor.tlsVersion == .tls13)
        }
    }

    @Test("garbage, a broken handshake and one of an old protocol are ended, and others are served meanwhile")
    func garbage() async throws {
        let hello = try clientHello()
        try await TLSServer.run { server in
            let steady = try server.visit()
            var broken = hello
            broken[broken.count / 2] ^= 0xFF
            let attempts: [[UInt8]] = [
                [0x00, 0x01, 0x02, 0x03, 0x04, 0x05], [UInt8](repeating: 0xFF, count: 70_000),
                [0x16, 0x03, 0x01, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 70_000),
                [0x16, 0x03, 0x01, 0x00, 0x00], [0x17, 0x03, 0x03, 0x00, 0x10],
                [0x15, 0x03, 0x01, 0, 2, 2, 40],
                // SSL 2's greeting, and a record that is longer than any may be.
                [0x80, 0x2E, 0x01, 0x03, 0x01, 0, 0x15, 0, 0, 0, 0x10], [0x16, 0x03, 0x03, 0x48, 0x01],
                hello + hello, hello + [0x17, 0x03, 0x03, 0, 5, 1, 2, 3, 4, 5], broken,
            ]
            for attempt in attempts {
                let client = try server.connectWithoutTLS()
                client.send(attempt)
                client.endSending()
                _ = try client.rest()
                steady.send(TLSServer.get)
                #expect(try steady.answer().status == 200)
            }
            #expect(await Polling.eventually { server.statistics.failedHandshakes == attempts.count })
            #expect(await Polling.eventually { server.statistics.openConnections == 1 })
            #expect(server.statistics.requests == attempts.count + 1)
        }
    }

    @Test("a broken record after the handshake ends its connection and no other one")
    func brokenRecord() async throws {
        try await TLSServer.run { server in
            let steady = try server.visit()
            for bytes in [[UInt8]](
                [
                    [0x17, 0x03, 0x03, 0, 32] + [UInt8](repeating: 7, count: 32),
                    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Array("GET".utf8),
                ]
            ) {
                let client = try server.visit()
                client.sendBypassingTLS(bytes + [UInt8](repeating: 0, count: 8))
                _ = try client.rest()
                steady.send(TLSServer.get)
                #expect(try steady.answer().status == 200)
            }
            #expect(await Polling.eventually { server.statistics.openConnections == 1 })
        }
    }

    @Test(
        "a handshake that comes byte by byte is finished",
        arguments: [TLSClientSettings.Version.tls12, .tls13]
    )
    func byteByByte(version: TLSClientSettings.Version) async throws {
        try await TLSServer.run { server in
            let relay = try SlowRelay(to: server.port)
            let client = try RawClient(port: relay.port, tls: TLSClientSettings(version))
            client.send(TLSServer.get)
            #expect(try client.answer().status == 200)
        }
    }

    @Test(
        "a handshake that is not finished in the time for a header is closed, and so is a silent connection"
    )
    func tooSlow() async throws {
        let hello = try clientHello()
        try await TLSServer.run(nil, { $0.timeouts.header = .seconds(3) }) { server in
            let silent = try server.connectWithoutTLS()
            let half = try server.connectWithoutTLS()
            half.send(Array(hello.prefix(hello.count / 2)))
            let answered = try server.connectWithoutTLS()
            answered.send(hello)
            #expect(try silent.rest() == "")
            #expect(try half.rest() == "")
            #expect(try !answered.rest().isEmpty, "its own part of the handshake was sent")
            #expect(server.statistics.failedHandshakes == 2, "who never began has not failed")
            #expect(server.statistics.requests == 0)
        }
    }

    @Test("a stop does not wait for handshakes that are not finished, nor for who is silent")
    func stopsMeanwhile() async throws {
        let hello = try clientHello()
        try await TLSServer.run(nil, { $0.timeouts.header = .seconds(3600) }) { server in
            let silent = try server.connectWithoutTLS()
            let half = try server.connectWithoutTLS()
            half.send(hello)
            #expect(!half.isSilent(milliseconds: 60_000), "its own part of the handshake is sent")
            #expect(await Polling.eventually { server.statistics.openConnections == 2 })
            let start = MonotonicTime.now()
            let webServer = server.webServer
            let stop = Background.start { webServer.stop(within: .seconds(3600)) }
            #expect(await Polling.eventually { stop.isOpen })
            #expect(MonotonicTime.now().nanoseconds(since: start) < 30_000_000_000)
            #expect(try silent.rest() == "")
            half.close()
        }
    }

    @Test("new keys without end are no request: the connection is closed when its time is over")
    func keysWithoutEnd() async throws {
        try await TLSServer.run(
            nil,
            {
                $0.timeouts.idle = .seconds(3)
                // The answers to the keys fill the socket, for the client reads none.
                $0.timeouts.write = .seconds(3)
            }
        ) { server in
            let client = try server.visit(TLSClientSettings(.tls13))
            let limit = Polling.end
            while client.sendKeys() { try #require(ContinuousClock.now < limit) }
            #expect(await Polling.eventually { server.statistics.openConnections == 0 })
        }
    }

    @Test("a thousand handshakes broken off anywhere leave nothing behind")
    func brokenOff() async throws {
        let hello = try clientHello()
        var generator = SeededGenerator(seed: 7)
        try await TLSServer.run { server in
            for _ in 0..<1_000 {
                let client = try server.connectWithoutTLS()
                client.send(Array(hello.prefix(Int.random(in: 0...hello.count, using: &generator))))
                if Bool.random(using: &generator) { client.reset() } else { client.close() }
            }
            #expect(await Polling.eventually { server.statistics.acceptedConnections == 1_000 })
            #expect(await Polling.eventually { server.statistics.openConnections == 0 })
            let visitor = try server.visit()
            #expect(visitor.tlsVersion == .tls13)
        }
    }

    @Test("no handshake bytes crash it: changed, cut, doubled, from a seed", arguments: [UInt64(1), 2, 3])
    func fuzz(seed: UInt64) async throws {
        let hello = try clientHello()
        var generator = SeededGenerator(seed: seed)
        try await TLSServer.run(nil, { $0.timeouts.header = .seconds(5) }) { server in
            for _ in 0..<Self.rounds {
                let client = try server.connectWithoutTLS()
                client.send(Self.mutated(hello, &generator))
                client.endSending()
                _ = try client.rest()
            }
            #expect(await Polling.eventually { server.statistics.openConnections == 0 })
            let visitor = try server.visit()
            #expect(visitor.tlsVersion == .tls13)
        }
    }

    private static func mutated(_ hello: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = hello
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes = Array(bytes.prefix(max(1, index)))
            case 3: bytes.insert(contentsOf: bytes[..<index], at: index)
            default: bytes += (0..<index).map { _ in UInt8.random(in: 0...255, using: &generator) }
            }
        }
        return bytes
    }
}
