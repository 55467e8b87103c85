import Foundation
import HTTPServer
import Support
import Testing
import Threads

@Suite("TLS under attack", .blocking)
struct TLSFaultTests {
    private static let rounds = isLong ? 20_000 : 150

    @Test("HTTP without TLS gets a response without TLS and without Strict-Transport-Security")
    func plainText() async throws {
        try await TLSServer.run { server in
            for request in [TLSServer.get, "POST /x HTTP/1.1\r\n", "G", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
                let client = try server.connectWithoutTLS()
                let answer = try client.ask(request)
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

    @Test("garbage, broken handshakes and old protocols end only their connection")
    func garbage() async throws {
        let hello = try ClientHello.bytes()
        try await TLSServer.run { server in
            let steady = try server.visit()
            var broken = hello
            broken[broken.count / 2] ^= 0xFF
            let attempts: [[UInt8]] = [
                [0x00, 0x01, 0x02, 0x03, 0x04, 0x05], [UInt8](repeating: 0xFF, count: 70_000),
                [0x16, 0x03, 0x01, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 70_000),
                [0x16, 0x03, 0x01, 0x00, 0x00], [0x17, 0x03, 0x03, 0x00, 0x10],
                [0x15, 0x03, 0x01, 0, 2, 2, 40],
                // The first message of SSL 2, and a record that is longer than the maximum.
                [0x80, 0x2E, 0x01, 0x03, 0x01, 0, 0x15, 0, 0, 0, 0x10], [0x16, 0x03, 0x03, 0x48, 0x01],
                hello + hello, hello + [0x17, 0x03, 0x03, 0, 5, 1, 2, 3, 4, 5], broken,
            ]
            for attempt in attempts {
                let client = try server.connectWithoutTLS()
                client.send(attempt)
                client.endSending()
                _ = try client.rest()
                #expect(try steady.ask(TLSServer.get).status == 200)
            }
            #expect(await Polling.eventually { server.statistics.failedHandshakes == attempts.count })
            #expect(await Polling.eventually { server.statistics.openConnections == 1 })
            #expect(server.statistics.requests == attempts.count + 1)
        }
    }

    @Test("a broken record after the handshake ends only its connection")
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
                #expect(try steady.ask(TLSServer.get).status == 200)
            }
            #expect(await Polling.eventually { server.statistics.openConnections == 1 })
        }
    }

    @Test("a handshake sent byte by byte succeeds", arguments: [TLSClientSettings.Version.tls12, .tls13])
    func byteByByte(version: TLSClientSettings.Version) async throws {
        try await TLSServer.run { server in
            let relay = try SlowRelay(to: server.port)
            let client = try RawClient(port: relay.port, tls: TLSClientSettings(version))
            #expect(try client.ask(TLSServer.get).status == 200)
        }
    }

    @Test("connections without a handshake, or with a part of one, are closed after the header timeout")
    func tooSlow() async throws {
        let hello = try ClientHello.bytes()
        try await TLSServer.run(nil, { $0.timeouts.header = .seconds(3) }) { server in
            let silent = try server.connectWithoutTLS()
            let half = try server.connectWithoutTLS()
            half.send(Array(hello.prefix(hello.count / 2)))
            let answered = try server.connectWithoutTLS()
            answered.send(hello)
            #expect(try silent.rest() == "")
            #expect(try half.rest() == "")
            #expect(try !answered.rest().isEmpty, "the server sent its part of the handshake")
            #expect(server.statistics.failedHandshakes == 2, "the silent connection did not fail a handshake")
            #expect(server.statistics.requests == 0)
        }
    }

    @Test("a stop does not wait for incomplete handshakes, nor for silent connections")
    func stopsMeanwhile() async throws {
        let hello = try ClientHello.bytes()
        try await TLSServer.run(nil, { $0.timeouts.header = .seconds(3600) }) { server in
            let silent = try server.connectWithoutTLS()
            let half = try server.connectWithoutTLS()
            half.send(hello)
            #expect(!half.isSilent(milliseconds: 60_000), "the server sends its part of the handshake")
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

    @Test("endless key updates are no request: the connection is closed after the idle timeout")
    func keysWithoutEnd() async throws {
        try await TLSServer.run(
            nil,
            {
                $0.timeouts.idle = .seconds(3)
                // The server's responses to key updates fill the socket, because the client reads none.
                $0.timeouts.write = .seconds(3)
            }
        ) { server in
            let client = try server.visit(TLSClientSettings(.tls13))
            let limit = Polling.end
            while client.sendKeys() { try #require(ContinuousClock.now < limit) }
            #expect(await Polling.eventually { server.statistics.openConnections == 0 })
        }
    }

    @Test("a thousand handshakes that end at any byte leave no connection open")
    func brokenOff() async throws {
        let hello = try ClientHello.bytes()
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

    @Test("random changes of a handshake do not crash the server", arguments: [UInt64(1), 2, 3])
    func fuzz(seed: UInt64) async throws {
        let hello = try ClientHello.bytes()
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
