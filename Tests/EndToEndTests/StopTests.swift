import Foundation
import Support
import Testing

@Suite("A graceful stop", .blocking, .timeLimit(.minutes(10)))
struct StopTests {
    @Test("answers what is under way, loses nothing, and ends with status 0", arguments: [SIGTERM, SIGINT])
    func stopUnderLoad(signal: Int32) throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let connections = try (0..<50).map { _ in try server.connect() }
        for (number, connection) in connections.enumerated() { try connection.sendClick(fingerprint(number)) }
        #expect(try connections[0].receive().status == 201)
        server.terminate(with: signal)
        // A request that was read is answered; one that was still on its way may find the connection closed.
        var acknowledged: [Int] = [0]
        for (number, connection) in connections.enumerated().dropFirst() {
            if let reply = try? connection.receive(), reply.status == 201 { acknowledged.append(number) }
        }
        #expect(server.waitUntilExit() == 0)
        #expect(!FileManager.default.fileExists(atPath: installation.database.path + "-wal"))
        let second = try AfterlinkProcess(installation)
        defer { second.kill() }
        let connection = try second.connect()
        for number in acknowledged {
            #expect(try connection.check(fingerprint(number), key: installation.keys.app).isMatch)
        }
    }
}
