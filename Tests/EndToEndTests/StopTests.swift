import Foundation
import Support
import Testing

@Suite("A graceful stop", .blocking)
struct StopTests {
    private func isAccepting(_ server: AfterlinkProcess) -> Bool { (try? server.connect()) != nil }

    @Test(
        "a stop responds to each earlier request, loses nothing, and ends with status 0",
        arguments: [SIGTERM, SIGINT],
        [0, 300] as [Int32]
    )
    func stopUnderLoad(signal: Int32, syncMilliseconds: Int32) throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connections = try (0..<64).map { _ in try server.connect() }
        for (number, connection) in connections.enumerated() { try connection.sendClick(fingerprint(number)) }
        for connection in connections { #expect(try connection.receive().status == 201) }
        if syncMilliseconds > 0 { try disk.set(.slowSync(milliseconds: syncMilliseconds)) }

        for (number, connection) in connections.enumerated() {
            if number % 4 == 0 {
                connection.sendCheck(fingerprint(number))
            } else {
                try connection.sendClick(fingerprint(100 + number))
            }
        }
        // The server has all requests when the signal arrives.
        server.terminate(with: signal)
        let replies = try connections.map { try $0.receive() }
        for reply in replies where reply.status != 201 && !reply.isMatch {
            #expect(reply.status == 503)
            #expect(reply.fields["retry-after"] != nil)
        }
        #expect(server.waitUntilExit() == 0)
        #expect(!FileManager.default.fileExists(atPath: installation.database.path + "-wal"))
        try verify(installation, replies)
    }

    /// Expects that acknowledged clicks match, and matched clicks do not match again.
    private func verify(_ installation: Installation, _ replies: [HTTPTestClient.Reply]) throws {
        let (_, connection) = try installation.serve(["--replay-grace", "0"])
        for (number, reply) in replies.enumerated() where reply.status == 201 {
            #expect(try connection.check(fingerprint(100 + number)).isMatch)
        }
        for (number, reply) in replies.enumerated() where reply.isMatch {
            #expect(try connection.check(fingerprint(number)).isNoMatch)
        }
    }

    @Test("a stop waits for an unfinished request until a second signal")
    func secondSignal() throws {
        let installation = try Installation()
        // Without a second signal, the server would wait for an hour.
        let patience = ["--shutdown-grace", "3600", "--timeout-body", "3600"]
        let server = try AfterlinkProcess(installation, patience)
        let slow = try RawClient(port: server.port)
        slow.send("POST /v1/deferred-deeplink/click HTTP/1.1\r\nHost: a\r\nContent-Length: 400\r\n")
        slow.send("Content-Type: application/json\r\n\r\n{")
        // When this later request has its response, the server has read the first one's bytes.
        #expect(try server.connect().click(fingerprint(1)).status == 201)
        server.terminate()
        while isAccepting(server) {}
        #expect(slow.isSilent(milliseconds: 200))
        server.terminate()
        #expect(server.exitStatus(withinSeconds: 40) == 0)
    }

    @Test("a stop does not wait for a disk that does not respond")
    func stopWithStuckDisk() throws {
        let (installation, disk, server) = try AfterlinkProcess.onFaultyDisk()
        let connection = try server.connect()
        #expect(try connection.click(fingerprint(1)).status == 201)
        try disk.set(.stuckSync)
        try connection.sendClick(fingerprint(2))
        server.terminate()
        #expect(try connection.receive().status == 503)
        #expect(server.exitStatus(withinSeconds: 40) == 0)
        let second = try AfterlinkProcess(installation)
        #expect(try second.connect().check(fingerprint(1)).isMatch)
    }
}
