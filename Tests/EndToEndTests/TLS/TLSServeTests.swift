import Foundation
import Support
import Testing

@Suite("afterlink serve over TLS", .blocking)
struct TLSServeTests {
    @Test("a click matches over TLS, and every response has Strict-Transport-Security, also refusals")
    func serves() throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder)
        let server = try AfterlinkProcess(installation, files.arguments)
        let connection = try server.connect(tls: TLSClientSettings())
        let key = installation.keys.app
        let replies = [
            try connection.click(fingerprint(1)), try connection.check(fingerprint(1), key: key),
            try connection.check("nonsense", key: key), try connection.check(fingerprint(1), key: "wrong"),
            try connection.get("/nowhere"), try connection.get("/healthz"),
            try connection.call("OPTIONS", HTTPTestClient.prefix), try connection.call("DELETE", "/healthz"),
        ]
        #expect(replies.map(\.status) == [201, 200, 400, 401, 404, 200, 204, 405])
        #expect(replies[1].isMatch)
        for reply in replies { #expect(reply.fields["strict-transport-security"] == "max-age=31536000") }
        connection.client.send("GET / HTTP/1.1\r\nHost : x\r\n\r\n")
        let malformed = try connection.receive()
        #expect(malformed.status == 400 && malformed.fields["strict-transport-security"] != nil)
    }

    @Test("`health` and the metrics use TLS, and `health` without the certificate fails with advice")
    func watching() throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder)
        let server = try AfterlinkProcess(installation, files.arguments)
        let address = ["--listen", "127.0.0.1:\(server.port)"]
        #expect(try Installation.run(["health"] + address + files.arguments).status == 0)
        let plain = try Installation.run(["health"] + address)
        #expect(plain.status == 1 && plain.errors.contains("speaks HTTPS, not plain HTTP"))
        #expect(plain.errors.contains("--tls-certificate"))

        let session = try server.connect(tls: TLSClientSettings(.tls12)).client.tlsSession
        let resumed = try server.connect(tls: TLSClientSettings(.tls12, resuming: session))
        #expect(resumed.client.isResumed)
        let metrics = try resumed.get("/metrics", key: installation.keys.admin).text
        #expect(metrics.contains("\nafterlink_tls_resumed_handshakes_total 1\n"))
        #expect(metrics.contains("\nafterlink_tls_handshakes_total 4\n"))
        let line = metrics.split(separator: "\n").first {
            $0.hasPrefix("afterlink_tls_certificate_expiry_seconds ")
        }
        let expiry = try #require(line?.split(separator: " ").last.flatMap { Double($0) })
        #expect(abs(expiry - Date.now.timeIntervalSince1970 - 86_400) < 600)
    }

    @Test("a thousand aborted handshakes leave no open socket")
    func brokenOff() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(
            installation,
            try CertificateFiles(in: installation.folder).arguments
        )
        let hello = try ClientHello.bytes()
        let watching = try server.connect(tls: TLSClientSettings())
        _ = try watching.get("/healthz")
        let before = try socketCount(server)
        for number in 0..<1_000 {
            let client = try RawClient(port: server.port)
            client.send(Array(hello.prefix(hello.count * number / 1_000)))
            if number.isMultiple(of: 2) { client.reset() } else { client.close() }
            // A connection that is idle for long is closed.
            if number.isMultiple(of: 50) { _ = try watching.get("/healthz") }
        }
        let end = Polling.end
        while try socketCount(server) > before, ContinuousClock.now < end {
            _ = try watching.get("/healthz")
        }
        #expect(try socketCount(server) <= before)
    }

    /// The number of the server's sockets; other descriptors come and go with its jobs.
    private func socketCount(_ server: AfterlinkProcess) throws -> Int {
        let folder = "/proc/\(server.identifier)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target?.hasPrefix("socket:") == true
        }
    }

    @Test("a match whose client resets before it has the response goes to the next check, once")
    func redelivery() throws {
        let installation = try Installation()
        let disk = try FaultyDisk(in: installation.folder)
        let server = try AfterlinkProcess(
            installation,
            try CertificateFiles(in: installation.folder).arguments + [
                "--replay-grace", "0", "--threads", "1",
            ],
            environment: disk.environment
        )
        let key = installation.keys.app
        for version in [TLSClientSettings.Version.tls12, .tls13] {
            let print = fingerprint(Int(version.rawValue))
            let connection = try server.connect(tls: TLSClientSettings(version))
            #expect(try connection.click(print).status == 201)
            // The claim is committed after the client has closed.
            try disk.set(.stuckSync)
            let unlucky = try server.connect(tls: TLSClientSettings(version))
            unlucky.sendCheck(print, key: key)
            // The server has one event loop: when it responds to this request, it has read the earlier check.
            #expect(try connection.get("/healthz").status == 200)
            unlucky.reset()
            try disk.set()
            #expect(try Polling.until { try connection.check(print, key: key).isMatch })
            #expect(try connection.check(print, key: key).isNoMatch)
            let totals = try connection.totals(installation.keys.admin)
            let number = version == .tls12 ? 1 : 2
            #expect(totals["matches"] as? Int == number && totals["replays"] as? Int == number)
        }
    }
}
