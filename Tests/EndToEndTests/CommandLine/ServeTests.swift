import Foundation
import Support
import Testing

@Suite("afterlink serve", .blocking)
struct ServeTests {
    /// Starts a server in a folder, with the folder as its data directory.
    private func start(
        in folder: TemporaryFolder,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(
            Installation.binary,
            ["serve", "--listen", "127.0.0.1:0", "--data-directory", folder.path] + arguments,
            environment: environment,
            errorLog: folder.url.appending(path: "log")
        )
    }

    private func port(_ line: String?) throws -> UInt16 {
        try #require(line?.split(separator: ":").last.flatMap { UInt16($0) })
    }

    private func log(_ folder: TemporaryFolder) throws -> String {
        try String(contentsOf: folder.url.appending(path: "log"), encoding: .utf8)
    }

    @Test("`serve` on a new database prints the keys once, and an example that works")
    func firstStart() throws {
        let folder = try TemporaryFolder()
        let server = try start(in: folder)
        // The printed calls are for a shell; the test sends their requests itself.
        let target = try #require(server.line(containing: "curl -X POST"))
        #expect(target.contains("/v1/deferred-deeplink/click \\"))
        _ = server.line(containing: "Content-Type")
        let body = try #require(server.line(containing: "-d '")).split(separator: "'")[1]
        let check = try #require(server.line(containing: "fingerprint=")).split(separator: "=")[1].prefix(64)
        let key = try #require(server.line(containing: "Bearer")).split(separator: " ").last?.dropLast() ?? ""
        let connection = try HTTPTestClient(port: try port(server.line(containing: "listening on")))
        let fields = ["Content-Type": "application/json"]
        let click = try connection.call(
            "POST",
            HTTPTestClient.prefix + "/click",
            fields: fields,
            body: String(body)
        )
        #expect(click.status == 201)
        #expect(try connection.check(String(check), key: String(key)).isMatch)
        server.send(SIGTERM)
        #expect(server.waitUntilExit() == 0)
        #expect(try log(folder).contains("allows any destination"))
        #expect(try !log(folder).contains(String(key)))

        let second = try start(in: folder)
        let line = second.line(containing: " ")
        #expect(line?.hasPrefix("listening on http://127.0.0.1:") == true, "keys are printed once")
    }

    @Test("`serve` with keys that the operator supplied prints no keys, and the supplied keys work")
    func broughtKeys() throws {
        let folder = try TemporaryFolder()
        let (app, admin) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
        let server = try start(
            in: folder,
            ["--destination", "myapp://"],
            environment: ["AFTERLINK_INITIAL_APP_KEY": app, "AFTERLINK_INITIAL_ADMIN_KEY": admin]
        )
        let line = server.line(containing: " ")
        let connection = try HTTPTestClient(port: try port(line))
        #expect(line?.hasPrefix("listening on ") == true)
        #expect(try connection.check(fingerprint(1), key: app).status == 200)
        #expect(try connection.get("/admin/stats", key: admin).status == 200)
        #expect(try !log(folder).contains("allows any destination"))
    }

    @Test("`serve` on an existing database warns of settings for new databases, with the commands to use")
    func settingsOfTheFirstStart() throws {
        let folder = try TemporaryFolder()
        let (app, other) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
        func restart(_ arguments: [String], key: String) throws -> String {
            let server = try start(in: folder, arguments, environment: ["AFTERLINK_INITIAL_APP_KEY": key])
            _ = server.line(containing: "listening on")
            server.send(SIGTERM)
            #expect(server.waitUntilExit() == 0)
            defer { try? FileManager.default.removeItem(atPath: folder.file("log")) }
            return try log(folder)
        }
        let same = [
            "--destination", "myapp://", "--destination", "https://shop.example/a", "--app-name", "Shop",
        ]
        #expect(try !restart(same, key: app).contains("has no effect"), "the settings create the database")
        #expect(try !restart(same, key: app).contains("has no effect"), "the settings equal the database's")
        #expect(try !restart([], key: app).contains("has no effect"))
        let changed = try restart(["--destination", "yours://", "--app-name", "A shop"], key: other)
        #expect(changed.components(separatedBy: "has no effect").count == 4)
        #expect(
            changed.contains("--destination has no effect")
                && changed.contains("AFTERLINK_INITIAL_APP_KEY has")
        )
        #expect(changed.contains("--destination yours://`") && changed.contains("--name 'A shop'`"))
        #expect(changed.contains("`afterlink keys create --kind app`"))
        #expect(!changed.contains(app) && !changed.contains(other))
        let doctor = try Installation.run([
            "doctor", "--data-directory", folder.path, "--listen", "127.0.0.1:0", "--destination", "yours://",
        ]
        )
        #expect(doctor.text.contains("warning  settings: --destination has no effect"))
    }

    @Test("health reports whether a service is ready, without any other program")
    func health() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let address = ["--listen", "127.0.0.1:\(server.port)"]
        #expect(try Installation.run(["health"] + address).status == 0)
        let files = try CertificateFiles(in: installation.folder)
        let overTLS = try Installation.run(["health"] + address + files.arguments)
        #expect(overTLS.status == 1 && overTLS.errors.contains("speaks plain HTTP, not HTTPS"))
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let output = try Installation.run(["health"] + address)
        #expect(
            output.status == 1 && output.errors.contains("No service responds at 127.0.0.1:\(server.port)")
        )
    }

    @Test("metrics may have a separate address")
    func metrics() throws {
        let folder = try TemporaryFolder()
        let server = try start(in: folder, ["--metrics-listen", "127.0.0.1:0", "--log-format", "json"])
        let connection = try HTTPTestClient(port: try port(server.line(containing: "listening on")))
        #expect(try connection.get("/metrics").status == 401)
        // The log may be flushed after the address is printed: poll for the line.
        var metricsPort: UInt16?
        let end = Polling.end
        while metricsPort == nil, ContinuousClock.now < end {
            let text = try log(folder).components(separatedBy: "metrics on 127.0.0.1:").dropFirst().first
            metricsPort = text.flatMap { UInt16($0.prefix { $0.isNumber }) }
        }
        let metrics = try HTTPTestClient(port: #require(metricsPort))
        #expect(try metrics.get("/metrics").text.contains("afterlink_build_info"))
        #expect(try metrics.get("/v1/deferred-deeplink").status == 404)
    }

    @Test("a start with a busy address, a damaged, open or missing server key, or a wrong directory fails")
    func refusals() throws {
        let installation = try Installation()
        let key = installation.database.path + ".key"
        func serve(_ listen: String = "127.0.0.1:0", _ more: [String] = []) throws -> ChildProcess.Output {
            try installation.run(["serve", "--listen", listen] + more)
        }
        let server = try AfterlinkProcess(installation)
        let busy = try serve("127.0.0.1:\(server.port)")
        #expect(busy.status == 1 && busy.errors.contains("--listen"))
        // No keys are created before it is certain that they can be shown.
        let folder = try TemporaryFolder()
        let inVain = ["serve", "--listen", "127.0.0.1:\(server.port)", "--data-directory", folder.path]
        #expect(try Installation.run(inVain).status == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(try Installation.run(["init", "--data-directory", folder.path]).status == 0)
        server.kill()

        let text = try String(contentsOfFile: key, encoding: .utf8)
        for broken in ["", "abc", String(repeating: "g", count: 64), String(text.dropLast(2))] {
            try broken.write(toFile: key, atomically: false, encoding: .utf8)
            let output = try serve()
            #expect(output.status == 78 && output.errors.contains("are damaged"), "\(broken)")
        }
        try text.write(toFile: key, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
        let open = try serve()
        #expect(open.status == 78 && open.errors.contains("chmod 600"))
        try FileManager.default.removeItem(atPath: key)
        let missing = try serve()
        #expect(missing.status == 78 && missing.errors.contains("is missing"))
        let elsewhere = [
            "--server-key-file", folder.file("none/key"), "--data-directory", folder.file("new"),
        ]
        let wrong = try Installation.run(["serve", "--listen", "127.0.0.1:0"] + elsewhere)
        #expect(wrong.status == 78 && wrong.errors.contains("No such file"), "\(wrong.errors)")
        #expect(!FileManager.default.fileExists(atPath: key), "a lost key is never replaced by another key")
        #expect(try serve("127.0.0.1:0", ["--data-directory", "/dev/null/x"]).status == 1)
    }

    @Test("`serve` limits the requests of one address, by class")
    func rateLimit() throws {
        let (_, _, connection) = try Installation.serving(["--rate-limit-checks", "1/s:3"])
        // One more request passes for each second that the machine needs.
        var replies: [HTTPTestClient.Reply] = []
        while replies.count < 200, replies.last?.status != 429 {
            replies.append(try connection.check(fingerprint(1)))
        }
        let refused = try #require(replies.last)
        #expect(replies.count > 3 && refused.status == 429)
        #expect(refused.fields["retry-after"] == "1" && refused.fields["x-ratelimit-limit"] == "3")
        for number in 0..<50 { #expect(try connection.click(fingerprint(number)).status == 201) }
    }

    @Test("a second signal ends a stop that waits for a slow client")
    func secondSignal() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(
            installation,
            ["--shutdown-grace", "3600", "--timeout-body", "3600"]
        )
        // A request without its body keeps the connection busy; 100 Continue shows that the server has read its head.
        let client = try RawClient(port: server.port)
        client.send(
            "POST /v1/deferred-deeplink/click HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
        )
        #expect(try client.answer().status == 100)
        // Two kinds of signals, because the system may merge two of the same kind.
        server.terminate(with: SIGTERM)
        server.terminate(with: SIGINT)
        #expect(server.exitStatus(withinSeconds: 8) == 0)
    }
}
