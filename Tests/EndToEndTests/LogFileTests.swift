import Foundation
import Support
import Testing

@Suite("The log file", .blocking)
struct LogFileTests {
    private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    /// Sends requests, each of which writes a line, until a condition holds; returns false if it never holds.
    private func isLogged(by server: AfterlinkProcess, _ isTrue: () -> Bool) throws -> Bool {
        let connection = try server.connect()
        return try Polling.until {
            let status = try connection.get("/healthz").status
            return status == 200 && isTrue()
        }
    }

    @Test("the log file is reopened on SIGHUP after it was moved away, and no line is lost")
    func rotation() throws {
        let installation = try Installation()
        let folder = installation.folder.path
        let server = try AfterlinkProcess(
            installation,
            ["--log-file", "\(folder)/a.log", "--log-format", "json"]
        )
        let connection = try server.connect()
        func ask(_ numbers: ClosedRange<Int>) throws {
            for number in numbers {
                #expect(
                    try connection.get("/healthz", fields: ["X-Request-ID": "n-\(number)-"]).status == 200
                )
            }
        }
        try ask(1...20)
        #expect(try isLogged(by: server) { text("\(folder)/a.log").contains("n-20-") })
        try FileManager.default.moveItem(atPath: "\(folder)/a.log", toPath: "\(folder)/a.log.1")
        try ask(21...30)
        server.terminate(with: SIGHUP)
        #expect(try isLogged(by: server) { text("\(folder)/a.log").contains("/healthz") })
        try ask(31...40)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let all = text("\(folder)/a.log.1") + text("\(folder)/a.log")
        for number in 1...40 { #expect(all.components(separatedBy: "n-\(number)-").count == 2) }
        #expect(text("\(folder)/a.log").contains("n-40-") && !text("\(folder)/a.log").contains("n-20-"))
        let mode =
            try FileManager.default.attributesOfItem(atPath: "\(folder)/a.log")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("a log file that cannot be reopened is reported once; meanwhile, lines go to standard error")
    func folderGone() throws {
        let installation = try Installation()
        let folder = installation.folder.appending(path: "logs").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let server = try AfterlinkProcess(
            installation,
            ["--log-file", "\(folder)/a.log", "--log-format", "json"]
        )
        try FileManager.default.removeItem(atPath: folder)
        server.terminate(with: SIGHUP)
        #expect(try isLogged(by: server) { installation.log.contains("/healthz") })
        #expect(installation.log.components(separatedBy: "the log file fails").count == 2)
        let metrics = try server.connect().get("/metrics", key: installation.keys.admin).text
        let failures = PrometheusText(metrics).value("afterlink_log_write_failures_total")
        #expect((failures ?? 0) >= 1)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(try isLogged(by: server) { text("\(folder)/a.log").contains("/healthz") })
        #expect(installation.log.contains("the log file works again"))
    }

    @Test("a log file on a full disk is reported once, and its lines go to standard error")
    func fullDisk() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--log-file", "/dev/full", "--log-format", "json"])
        #expect(try isLogged(by: server) { installation.log.contains("/healthz") })
        #expect(
            installation.log.components(separatedBy: "the log file fails: cannot write /dev/full").count == 2
        )
        #expect(try server.connect().click(fingerprint(1)).status == 201)
    }

    @Test("the log file contains no text that a client sent", arguments: ["json", "text"])
    func injection(format: String) throws {
        let installation = try Installation()
        let path = installation.folder.appending(path: "a.log").path
        let (server, connection) = try installation.serve(["--log-file", path, "--log-format", format])
        let rude = "x\u{9B}31m\u{202E}\u{7}\\n{\"forged\":1}"
        for fields in [
            ["X-Request-ID": rude], ["User-Agent": rude], ["X-Install-ID": rude], ["Referer": rude],
        ] { _ = try? server.connect().get("/forged%0Aline/\(fields.count)", fields: fields) }
        for target in [
            "/forged%0a%0d", "/resolve/forged%1b%5b31m", "/v1/deferred-deeplink?fingerprint=forged%0a",
        ] { _ = try connection.get(target) }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let log = text(path)
        #expect(!log.contains("forged"))
        #expect(
            !log.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value) }
        )
        for line in log.split(separator: "\n") {
            #expect(line.hasPrefix(format == "json" ? "{\"time\":\"20" : "20"))
        }
    }
}
