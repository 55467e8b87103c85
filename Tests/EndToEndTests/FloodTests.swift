import Foundation
import Fuzzing
import HTTPServer
import Support
import Testing

@Suite("Floods", .blocking(minutes: 30, first: true), .serialized)
struct FloodTests {
    private static let mebibyte = 1024 * 1024

    @Test("a flood of bodies that never end gets 503 above the limit, and leaves no memory allocated")
    func bodies() throws {
        let server = try AfterlinkProcess(Installation())
        let figures = ProcessFigures(of: server.identifier)
        let honest = try server.connect()
        #expect(try honest.click(fingerprint(1)).status == 201)
        let before = figures.residentByteCount

        let head = "POST /v1/deferred-deeplink/click HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n"
        let most = Array(head.utf8) + [UInt8](repeating: 0x20, count: 65_000)
        var flood: [RawClient] = []
        var highest = 0
        for number in 0..<(isLong ? 4_500 : 1_600) {
            let client = try RawClient(port: server.port)
            client.send(most)
            flood.append(client)
            guard number % 100 == 99 else { continue }
            highest = max(highest, figures.residentByteCount)
            // A complete request is served, however full the memory is.
            #expect(try honest.click(fingerprint(number)).status == 201)
        }
        highest = max(highest, figures.residentByteCount)
        #expect(highest < 256 * Self.mebibyte)
        // On a busy machine, the server refuses the last bodies a little later.
        let isBounded = Polling.until { flood.count { $0.isSilent(milliseconds: 0) } <= 1_100 }
        #expect(isBounded, "64 MiB are about a thousand such bodies")

        for client in flood { client.reset() }
        flood = []
        #expect(Polling.until { figures.residentByteCount < before + 32 * Self.mebibyte })
    }

    @Test("a flood of bytes that are nearly HTTP ends no process, and leaves no socket and little memory")
    func nearlyHTTP() throws {
        let server = try AfterlinkProcess(Installation())
        let figures = ProcessFigures(of: server.identifier)
        let honest = try server.connect()
        #expect(try honest.click(fingerprint(1)).status == 201)
        // Every loop opens its files at its first check.
        for _ in 0..<32 { _ = try server.connect().check(fingerprint(2)) }
        let (descriptors, sockets) = (figures.descriptorCount, figures.socketCount)
        #expect(sockets > 0)
        let entry = try #require(FuzzEntry.named("http"))
        var run = FuzzRun(entry, corpus: try FuzzCorpus(of: entry).inputs, seed: 4)
        for _ in 0..<(isLong ? 100_000 : 1_000) {
            let client = try RawClient(port: server.port)
            client.send(run.nextInput())
            client.endSending()
            let answers = try client.rest()
            #expect(answers.isEmpty || answers.hasPrefix("HTTP/1.1 "))
            client.reset()
        }
        #expect(try honest.check(fingerprint(1)).isMatch)
        #expect(Polling.until { figures.socketCount <= sockets })
        // Background readers open the database and its log within a minute, and keep them open.
        #expect(Polling.until { figures.descriptorCount <= descriptors + 8 })
        #expect(figures.residentByteCount < 256 * Self.mebibyte)
    }
}
