import Foundation
import Support
import Testing

/// Tests the address of the dashboard, and the links that sign in to it.
@Suite("The dashboard on the command line", .blocking)
struct DashboardCommandTests {
    @Test("the command prints a link to the address that the service has stored")
    func storedAddress() throws {
        let installation = try Installation()
        let none = try installation.run(["dashboard"])
        #expect(none.status == 1 && none.errors.contains("has stored the address"))
        let server = try AfterlinkProcess(
            installation,
            environment: ["AFTERLINK_DASHBOARD_LISTEN": "127.0.0.1:0"]
        )
        defer { server.kill() }
        // The server logs the dashboard's address after its own, for which the start of the process waits.
        _ = Polling.until { installation.log.contains("dashboard at") }
        let start = try #require(installation.log.firstMatch(of: /dashboard at (http:[^"\s]+)/)).output.1
        let link = try installation.run(["dashboard"])
        #expect(link.status == 0 && link.text.hasPrefix("\(start)/enter/"), "\(link.text) \(link.errors)")
        let other = try installation.run(["dashboard", "--server", "7"])
        #expect(other.status == 1 && other.errors.contains("these do: 0 at \(start)"))
        #expect(other.errors.contains("Give --server with the number of one of these."))
        let named = try installation.run(["dashboard", "--dashboard-listen", "127.0.0.1:9999"])
        #expect(named.text.hasPrefix("http://127.0.0.1:9999/enter/"))
    }

    @Test("sessions are listed with their keys, and ended by their ids or all at once")
    func sessions() throws {
        let installation = try Installation()
        let (server, _) = try installation.serve(["--dashboard-listen", "127.0.0.1:0"])
        _ = Polling.until { installation.log.contains("dashboard at") }
        let port = try #require(installation.log.firstMatch(of: /dashboard at http:[^:]+:([0-9]+)/)).output.1
        let client = try HTTPTestClient(port: try #require(UInt16(port)), of: server)
        let form = ["Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"]
        let cookies = try (0..<3).map { _ in
            let reply = try client.call(
                "POST",
                "/sign-in",
                fields: form,
                body: "key=\(installation.keys.admin)"
            )
            return try #require(reply.fields["set-cookie"]?.split(separator: ";").first).description
        }
        func open() throws -> [[String: Any]] {
            let output = try installation.run(["sessions", "list", "--json"])
            let json = try JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any]
            return json?["sessions"] as? [[String: Any]] ?? []
        }
        func statuses() throws -> [Int] {
            try cookies.map { try client.get("/settings", fields: ["Cookie": $0]).status }.sorted()
        }
        let sessions = try open()
        #expect(sessions.count == 3 && (sessions.first?["key"] as? String)?.hasPrefix("key_") == true)
        let id = try #require(sessions.first?["id"] as? String)
        #expect(try installation.run(["sessions", "list"]).text.contains(id))
        let ended = try installation.run(["sessions", "end", id])
        #expect(ended.status == 0 && ended.text == "Ended \(id).\n", "\(ended.text) \(ended.errors)")
        #expect(try open().count == 2 && statuses() == [200, 200, 303])
        #expect(try installation.run(["sessions", "end", id]).status == 1)
        for wrong in [[], [id, "--all"]] {
            #expect(try installation.run(["sessions", "end"] + wrong).status == 2)
        }
        #expect(try installation.run(["sessions", "end", "--all", "--json"]).text.contains("ended"))
        #expect(try open().isEmpty && statuses() == [303, 303, 303])
        #expect(try installation.run(["audit", "--action", "session.end"]).text.contains("command"))
    }

    @Test("the settings are printed with their sources, and without secrets")
    func settings() throws {
        let secret = String(repeating: "secret", count: 6)
        let output = try Installation().run(
            ["settings", "list", "--json"],
            environment: ["AFTERLINK_RETENTION": "604800", "AFTERLINK_INITIAL_ADMIN_KEY": secret]
        )
        #expect(output.status == 0 && !output.text.contains(secret), "\(output.errors)")
        #expect(output.text.contains(#"{"name":"retention","value":"604800","from":"AFTERLINK_RETENTION"}"#))
        #expect(output.text.contains(#"{"name":"listen","#) && output.text.contains(#""from":"default""#))
    }

    @Test("if the default address is taken, the service runs without a dashboard, and says so")
    func takenDefault() throws {
        let standard = ["AFTERLINK_DASHBOARD_LISTEN": ""]
        let warning = "the service runs without a dashboard: Cannot listen on 127.0.0.1:8081"
        // Another program may have the address, also for a moment only. Of two services, at least one does not get it.
        let installations = [try Installation(), try Installation()]
        let servers = try installations.map { try AfterlinkProcess($0, environment: standard) }
        let hasWarned = Polling.until { installations.contains { $0.log.contains(warning) } }
        #expect(hasWarned && installations.contains { $0.log.contains("--dashboard-listen off") })
        for server in servers { #expect(try server.connect().get("/healthz").status == 200) }
    }

    @Test("beyond loopback, the dashboard has the service's certificate; on loopback, it has none")
    func certificate() throws {
        for (listen, isEncrypted) in [("0.0.0.0:0", true), ("127.0.0.1:0", false)] {
            let installation = try Installation()
            let files = try CertificateFiles(in: installation.folder)
            let server = try AfterlinkProcess(
                installation,
                files.arguments,
                environment: ["AFTERLINK_DASHBOARD_LISTEN": listen]
            )
            _ = Polling.until { installation.log.contains("dashboard at") }
            let address = /dashboard at (https?):[^"\s]+:([0-9]+)/
            let start = try #require(installation.log.firstMatch(of: address))
            #expect(start.output.1 == (isEncrypted ? "https" : "http"))
            let port = try #require(UInt16(start.output.2))
            let client =
                try isEncrypted
                ? HTTPTestClient(port: port, of: server, tls: TLSClientSettings())
                : HTTPTestClient(port: port, of: server)
            #expect(try client.get("/sign-in").status == 200)
        }
    }

    @Test("the dashboard and the metrics each refuse a 201st connection, and the service continues")
    func connections() throws {
        let installation = try Installation()
        let listen = ["--dashboard-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]
        let server = try AfterlinkProcess(installation, listen)
        #expect(Polling.until { installation.log.contains("metrics on") })
        for start in ["dashboard at http://127.0.0.1:", "metrics on 127.0.0.1:"] {
            let text = try #require(installation.log.components(separatedBy: start).dropFirst().first)
            let port = try #require(UInt16(text.prefix { $0.isNumber }))
            let clients = try (0..<200).map { _ in try RawClient(port: port) }
            let further = try RawClient(port: port)
            #expect(try further.answer().status == 503, "\(start)")
            #expect(try server.connect().get("/healthz").status == 200)
            for client in clients { client.close() }
        }
    }

    @Test("a process without a dashboard keeps another's address; a killed process's address is not used")
    func severalProcesses() throws {
        let installation = try Installation()
        func start(_ dashboard: String) throws -> AfterlinkProcess {
            try AfterlinkProcess(installation, ["--dashboard-listen", dashboard])
        }
        let first = try start("127.0.0.1:0")
        defer { first.kill() }
        // The server stores the address before it logs it.
        _ = Polling.until { installation.log.contains("dashboard at") }
        let second = try start("off")
        defer { second.kill() }
        let link = try installation.run(["dashboard"])
        #expect(link.text.hasPrefix("http://127.0.0.1:"), "\(link.text) \(link.errors)")
        second.kill()
        first.kill()
        let none = try installation.run(["dashboard"])
        #expect(none.status == 1 && none.errors.contains("has stored the address"), "\(none.text)")
        // The next process removes the address that the killed process has left.
        let third = try start("off")
        defer { third.kill() }
        #expect(try installation.run(["dashboard"]).status == 1)
    }

    @Test(
        "after a later process has stopped, the dashboard of an earlier process and its host are still known"
    )
    func severalDashboards() throws {
        let installation = try Installation()
        let host = ["--dashboard-host", "stats.example.com", "--dashboard-listen", "127.0.0.1:0"]
        let first = try AfterlinkProcess(installation, host)
        defer { first.kill() }
        _ = Polling.until { installation.log.contains("dashboard at") }
        let own = try installation.run(["dashboard"]).text.prefix { $0 != "e" }
        let second = try AfterlinkProcess(installation, ["--dashboard-listen", "127.0.0.1:0"])
        _ = Polling.until { installation.log.matches(of: /dashboard at/).count == 2 }
        let newer = try installation.run(["dashboard"]).text
        #expect(newer.hasPrefix("http://127.0.0.1:") && !newer.hasPrefix(own), "\(newer)")
        second.terminate()
        second.waitUntilExit()
        let link = try installation.run(["dashboard"])
        #expect(link.text.hasPrefix(own), "\(link.text) \(link.errors)")
        let taken = try installation.run(["apps", "set", "--link-host", "stats.example.com"])
        #expect(taken.status == 1 && taken.errors.contains("stats.example.com is the dashboard's host"))
    }

    @Test("with --dashboard-host, the main address serves the dashboard for that host alone")
    func host() throws {
        let installation = try Installation()
        let host = [
            "--dashboard-host", "stats.example.com", "--dashboard-listen", "off", "--trusted-proxy",
            "127.0.0.1/32",
        ]
        // A process that stops does not remove the equal address that a later process has stored.
        let former = try AfterlinkProcess(installation, host)
        let server = try AfterlinkProcess(installation, host)
        defer { server.kill() }
        former.terminate()
        former.waitUntilExit()
        let connection = try server.connect()
        func status(_ path: String, _ host: String) throws -> Int {
            let fields = ["X-Forwarded-Host": host, "X-Forwarded-Proto": "https"]
            return try connection.call("GET", path, fields: fields).status
        }
        #expect(try status("/sign-in", "stats.example.com") == 200)
        #expect(try status("/healthz", "stats.example.com") == 200)
        #expect(try status("/readyz", "stats.example.com") == 404)
        #expect(try status("/sign-in", "go.example.com") == 404)
        let link = try installation.run(["dashboard"])
        #expect(link.text.hasPrefix("https://stats.example.com/enter/"), "\(link.text) \(link.errors)")
        // The running service has stored its host, which the settings of this command do not name.
        let taken = try installation.run(["apps", "set", "--link-host", "stats.example.com"])
        #expect(taken.status == 1 && taken.errors.contains("stats.example.com is the dashboard's host"))
    }

    @Test("a host of an app cannot be the dashboard's: the service does not start, and doctor says so")
    func hostOfApp() throws {
        let installation = try Installation()
        let known = ["AFTERLINK_DASHBOARD_HOST": "go.example.com"]
        let refused = try installation.run(
            ["apps", "set", "--link-host", "go.example.com"],
            environment: known
        )
        #expect(refused.status == 1 && refused.errors.contains("go.example.com is the dashboard's host"))
        let changed = try installation.run(["apps", "set", "--link-host", "go.example.com"])
        #expect(changed.status == 0, "\(changed.errors)")
        let output = try installation.run([
            "serve", "--dashboard-host", "go.example.com", "--listen", "127.0.0.1:0",
        ])
        #expect(output.status != 0 && output.errors.contains("go.example.com is the dashboard's host"))
        let doctor = try installation.run(["doctor", "--dashboard-host", "go.example.com"])
        #expect(doctor.text.contains("go.example.com is the dashboard's host"), "\(doctor.text)")
    }
}
