import Foundation
import Support
import Testing
import afterlink

/// Starts that fail because of the system around them.
@Suite("A refused start", .blocking)
struct RefusedStartTests {
    private func serve(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> ChildProcess.Output {
        let listen = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        return try Installation.run(["serve"] + listen + arguments, environment: environment)
    }

    @Test("a start gives the reason and advice for an address on which it cannot listen")
    func addresses() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let database = ["--database", installation.database.path]
        let taken = try serve(database + ["--listen", "127.0.0.1:\(server.port)"])
        #expect(taken.status == 1)
        #expect(
            taken.errors.contains("Stop the process that has the address")
                && taken.errors.contains("ss -ltnp")
        )
        let metrics = try serve(database + ["--metrics-listen", "127.0.0.1:\(server.port)"])
        #expect(metrics.status == 1 && metrics.errors.contains("--metrics-listen"))
        let dashboard = try serve(database + ["--dashboard-listen", "127.0.0.1:\(server.port)"])
        #expect(dashboard.status == 1 && dashboard.errors.contains("--dashboard-listen"))
        #expect(!dashboard.errors.contains("--metrics-listen"), "\(dashboard.errors)")
        // No machine has this address, which is reserved for documentation (RFC 5737).
        let foreign = try serve(database + ["--listen", "203.0.113.1:8080"])
        #expect(foreign.status == 1 && foreign.errors.contains("Give an address of this machine"))
    }

    /// Ports below this number need a privilege, but not in some containers.
    private static let firstFreePort =
        (try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding: .utf8))
        .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0

    @Test(
        "a start names the privilege that a port needs, and shows no keys",
        .enabled(if: UnprivilegedUser.isPossible && firstFreePort > 1)
    )
    func privilegedPort() throws {
        let account = try UnprivilegedUser()
        let server = try account.serve("127.0.0.1:1")
        #expect(server.line(containing: "app_") == nil)
        #expect(server.waitUntilExit() == 1)
        let errors = try String(contentsOf: account.errorLog, encoding: .utf8)
        #expect(errors.contains("Cannot listen on 127.0.0.1:1: Permission denied"))
        #expect(errors.contains("Give a port above 1023"))
        #expect(errors.contains("CAP_NET_BIND_SERVICE") && errors.contains("--listen"))
    }

    @Test("a database that is a directory is reported, with advice", arguments: ["serve", "stats", "init"])
    func directory(command: String) throws {
        let folder = try TemporaryFolder()
        let output = try Installation.run(
            [command, "--database", folder.path] + (command == "serve" ? ["--listen", "127.0.0.1:0"] : [])
        )
        #expect(output.status == 1)
        #expect(output.errors.contains("The database \(folder.path) is a directory."))
        #expect(output.errors.contains("--database \(folder.path)/afterlink.db"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("a missing parent of the data directory is reported with the command that creates the parent")
    func dataDirectory() throws {
        let folder = try TemporaryFolder()
        let output = try serve(["--data-directory", folder.file("a/b")])
        #expect(output.status == 1)
        #expect(output.errors.contains("there is no \(folder.file("a"))."))
        #expect(output.errors.contains("mkdir -p \(folder.file("a"))"))
    }

    @Test("a data directory that is not a directory is reported", arguments: ["serve", "init"])
    func noDirectory(command: String) throws {
        let listen = command == "serve" ? ["--listen", "127.0.0.1:0"] : []
        let output = try Installation.run([command, "--data-directory", "/dev/null"] + listen)
        #expect(output.status == 1)
        #expect(output.errors.contains("The data directory /dev/null is not a directory."))
        #expect(output.errors.contains("Name a directory with --data-directory"))
    }

    @Test("a start warns if the operator supplied only the app key, so that no admin key exists")
    func noAdminKey() throws {
        let folder = try TemporaryFolder()
        let server = try ChildProcess(
            Installation.binary,
            ["serve", "--listen", "127.0.0.1:0", "--data-directory", folder.path],
            environment: ["AFTERLINK_INITIAL_APP_KEY": String(repeating: "a", count: 32)],
            errorLog: folder.url.appending(path: "log")
        )
        _ = server.line(containing: "listening on")
        server.send(SIGTERM)
        #expect(server.waitUntilExit() == 0)
        let log = try String(contentsOf: folder.url.appending(path: "log"), encoding: .utf8)
        #expect(log.contains("there is no valid admin key"))
        #expect(log.contains("afterlink keys create --kind admin"))
    }
}
