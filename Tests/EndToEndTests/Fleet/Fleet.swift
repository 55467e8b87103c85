#if PostgreSQL
import Foundation
import Glibc
import Support
import Synchronization
import Testing

/// Several servers on one database of PostgreSQL or Citus; tests kill the servers and start them again.
final class Fleet: Sendable {
    static let serverCount = 3

    let database: any SQLTestDatabase
    /// The servers of the database: the one that the Afterlink servers connect to, and the workers of Citus.
    let nodes: [any DatabaseServer]
    /// The URL with which the servers connect, unless they have wires.
    let url: String
    /// A wire for each server; empty if the servers connect directly.
    let wires: [FaultyWire]
    private let folder: TemporaryFolder
    private let installations: [Installation]
    private let environments: [[String: String]]
    private let running: Mutex<[AfterlinkProcess?]>

    private struct Printed: Decodable {
        let keys: Installation.Keys
    }

    /// Creates a database, and starts its servers.
    ///
    /// - Parameters:
    ///   - cluster: the PostgreSQL server.
    ///   - standby: the PostgreSQL server to which the fleet's servers connect once it is the primary.
    ///   - hasWires: whether each server connects through a ``FaultyWire``.
    ///   - program: the program that creates the database, and that the servers run at first.
    ///   - environment: returns the variables of a server, by its index and folder.
    /// - Throws: if a server does not start.
    convenience init(
        on cluster: PostgreSQLCluster,
        standby: PostgreSQLCluster? = nil,
        hasWires: Bool = false,
        program: URL = Installation.binary,
        environment: (_ index: Int, _ folder: URL) throws -> [String: String] = { _, _ in [:] }
    ) throws {
        let database = try PostgreSQLTestDatabase(in: cluster)
        let wires = try (0..<(hasWires ? Self.serverCount : 0)).map { _ in try FaultyWire(to: cluster.port) }
        // A role without privileges, as a service should have.
        try cluster.execute("ALTER DATABASE \(database.name) OWNER TO \(Self.role)")
        let hosts = [cluster] + (standby.map { [$0] } ?? [])
        let url =
            "postgres://\(Self.role)@/\(database.name)?host="
            + hosts.map(\.folder.path).joined(separator: ",")
            + "&port=" + hosts.map { "\($0.port)" }.joined(separator: ",")
        try self.init(database, [cluster], url: url, wires: wires, program: program, environment: environment)
    }

    /// Creates a database of a Citus cluster, and starts its servers.
    convenience init(on cluster: CitusCluster) throws {
        let database = try CitusTestDatabase(in: cluster)
        try cluster.executeEverywhere(
            """
            SET citus.enable_ddl_propagation TO off;
            DO $$ BEGIN IF to_regrole('\(Self.role)') IS NULL THEN CREATE ROLE \(Self.role) LOGIN; END IF; END $$;
            ALTER DATABASE \(database.name) OWNER TO \(Self.role)
            """
        )
        try self.init(database, [cluster.coordinator] + cluster.workers, url: database.url(as: Self.role))
    }

    private init(
        _ database: any SQLTestDatabase,
        _ nodes: [any DatabaseServer],
        url: String,
        wires: [FaultyWire] = [],
        program: URL = Installation.binary,
        environment: (_ index: Int, _ folder: URL) throws -> [String: String] = { _, _ in [:] }
    ) throws {
        let folder = try TemporaryFolder()
        (self.database, self.nodes, self.url) = (database, nodes, url)
        (self.folder, self.wires) = (folder, wires)
        try Self.write(String(repeating: "5e", count: 32), to: folder.file("secret"))
        try Self.write(Self.password, to: folder.file("password"))
        let output = try Installation.run(
            ["init", "--json", "--database", url, "--secret-file", folder.file("secret")],
            of: program,
            in: folder.path
        )
        guard output.status == 0 else { throw ChildProcess.Failure(description: output.errors) }
        let keys = try JSONDecoder().decode(Printed.self, from: output.standardOutput).keys
        installations = try (0..<Self.serverCount).map { index in
            let tcp =
                wires.isEmpty
                ? nil : "postgres://\(Self.role)@127.0.0.1:\(wires[index].port)/\(database.name)"
            return try Installation(
                in: folder.url.appending(path: "server\(index)"),
                keys: keys,
                databaseURL: tcp ?? url
            )
        }
        environments = try installations.enumerated().map { try environment($0, $1.folder) }
        running = Mutex(Array(repeating: nil, count: Self.serverCount))
        for index in 0..<Self.serverCount { try start(index, program: program) }
    }

    typealias Shared = (fleet: Fleet, cluster: PostgreSQLCluster, disk: FaultyDisk)

    /// A fleet with wires, and the disk of its PostgreSQL server, which tests use one after the other.
    ///
    /// The first call makes them; if that fails, every call fails.
    static func shared() throws -> Shared {
        try common.withLock { common in
            let result = common ?? Result { try makeShared() }
            common = result
            return result
        }.get()
    }

    private static let common = Mutex<Result<Shared, any Error>?>(nil)

    private static func makeShared() throws -> Shared {
        var made: FaultyDisk?
        let cluster = try makeCluster { data in
            let disk = try FaultyDisk(ofClusterIn: data)
            made = disk
            return disk.environment
        }
        let fleet = try Fleet(on: cluster, hasWires: true)
        return (fleet, cluster, try #require(made))
    }

    /// Stops what ``shared()`` has made; otherwise its servers would run beside all later tests.
    fileprivate static func endShared() {
        let made = common.withLock { common in
            defer { common = nil }
            return try? common?.get()
        }
        made?.fleet.end()
        made?.disk.remove()
    }

    /// A fleet on Citus, which tests use one after the other.
    static func onCitus() throws -> Fleet { try commonOnCitus.get() }

    private static let commonOnCitus = Result {
        let fleet = try Fleet(on: CitusCluster())
        atexit { (try? Fleet.onCitus())?.end() }
        return fleet
    }

    private func end() {
        for index in 0..<Self.serverCount { kill(index) }
        folder.remove()
    }

    private static let role = "afterlink"
    private static let password = "fleet"

    /// Starts a PostgreSQL server for fleets.
    static func makeCluster(
        _ configuration: [String] = [],
        environment: (_ data: URL) throws -> [String: String] = { _ in [:] }
    ) throws -> PostgreSQLCluster {
        let cluster = try PostgreSQLCluster(configuration, environment: environment)
        try cluster.execute("CREATE ROLE \(role) LOGIN PASSWORD '\(password)'")
        return cluster
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    var keys: Installation.Keys { installations[0].keys }

    /// The server, or nil between its kill and its start.
    func server(_ index: Int) -> AfterlinkProcess? { running.withLock { $0[index] } }

    /// The text of a server's log.
    func log(_ index: Int) -> String { installations[index].log }

    func start(_ index: Int, program: URL = Installation.binary) throws {
        let server = try AfterlinkProcess(
            installations[index],
            [
                "--data-directory", installations[index].folder.path, "--secret-file", folder.file("secret"),
                "--database-password-file", folder.file("password"), "--trusted-proxy", "127.0.0.1/32",
                "--rate-limit", "off", "--limit-requests", "1000000000", "--log-format", "text",
            ],
            program: program,
            environment: environments[index]
        )
        running.withLock { $0[index] = server }
    }

    func kill(_ index: Int) { take(index)?.kill() }

    /// Stops a server as an operator does, and waits until it has ended.
    func stop(_ index: Int) {
        let server = take(index)
        server?.terminate()
        server?.waitUntilExit()
    }

    private func take(_ index: Int) -> AfterlinkProcess? {
        running.withLock { running in
            defer { running[index] = nil }
            return running[index]
        }
    }

    /// Runs a command of the binary on the database.
    func run(_ arguments: [String]) throws -> ChildProcess.Output {
        try installations[0].run(
            arguments + [
                "--secret-file", folder.file("secret"), "--database-password-file", folder.file("password"),
            ]
        )
    }

    /// Returns the ids of the processes with which a server of the database serves the fleet's connections.
    func backends(of node: any DatabaseServer) throws -> [Int32] {
        let lines = try node.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = '\(database.name)' AND usename = '\(Self.role)'",
            in: database.name
        )
        return lines.split(separator: "\n").compactMap { Int32($0) }
    }

    func set(_ fault: FaultyWire.Fault) { for wire in wires { wire.set(fault) } }
}

/// Stops the shared fleet after the last test of a suite.
struct SharedFleetTrait: SuiteTrait, TestScoping {
    @concurrent
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        defer { Fleet.endShared() }
        try await function()
    }
}

extension Trait where Self == SharedFleetTrait {
    /// The tests share a fleet.
    static var sharedFleet: Self { Self() }
}
#endif
