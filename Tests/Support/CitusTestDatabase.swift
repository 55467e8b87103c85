#if PostgreSQL
public import Foundation

/// The Citus cluster whose coordinator `AFTERLINK_TEST_CITUS` names, as `.ci/citus` starts it; its nodes need no password.
public final class CitusCluster: Sendable {
    /// A server of the cluster.
    private struct Node: Sendable {
        let host: String
        let port: Int

        func words(_ database: String) -> String {
            "host=\(host) port=\(port) user=\(PostgreSQLCluster.user) dbname=\(database)"
        }
    }

    /// The coordinator's address; nil without the variable.
    public static let address: URL? = ProcessInfo.processInfo.environment["AFTERLINK_TEST_CITUS"]
        .flatMap { URL(string: $0) }

    private let coordinator: Node
    private let workers: [Node]
    fileprivate var nodeCount: Int { 1 + workers.count }

    /// - Throws: if there is no variable, or the coordinator cannot be reached.
    public init() throws {
        guard let address = Self.address, let host = address.host(), let port = address.port else {
            throw ChildProcess.Failure(description: "AFTERLINK_TEST_CITUS names no coordinator")
        }
        coordinator = Node(host: host, port: port)
        let nodes = try PostgreSQLCluster.execute(
            "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY 1, 2",
            on: coordinator.words("postgres")
        )
        workers = nodes.split(separator: "\n").compactMap { line in
            let words = line.split(separator: "|")
            guard words.count == 2, let port = Int(words[1]) else { return nil }
            return Node(host: String(words[0]), port: port)
        }
    }

    fileprivate func url(of database: String) -> String {
        "postgres://\(PostgreSQLCluster.user)@\(coordinator.host):\(coordinator.port)/\(database)"
            + "?sslmode=disable"
    }

    /// Executes SQL on the coordinator; tests may join tables as no store does, and create triggers.
    fileprivate func execute(_ sql: String, in database: String) throws -> String {
        try PostgreSQLCluster.execute(
            sql,
            on: coordinator.words(database),
            settings: " -c citus.enable_repartition_joins=on -c citus.enable_unsafe_triggers=on"
        )
    }

    /// Executes SQL on each node, and returns the rows of all.
    fileprivate func executeEverywhere(_ sql: String, in database: String = "postgres") throws -> [String] {
        try ([coordinator] + workers).map { node in
            try PostgreSQLCluster.execute(sql, on: node.words(database))
        }
    }

    /// Adds the workers to a new database.
    fileprivate func connectNodes(of database: String) throws {
        _ = try executeEverywhere("CREATE EXTENSION citus", in: database)
        let setting = "SELECT citus_set_coordinator_host('\(coordinator.host)', \(coordinator.port))"
        let additions = workers.map { "SELECT citus_add_node('\($0.host)', \($0.port))" }
        for statement in [setting] + additions { _ = try execute(statement, in: database) }
    }
}

/// A database of one test on all nodes of a Citus cluster, which is deleted with this value.
public final class CitusTestDatabase: SQLTestDatabase {
    private let cluster: CitusCluster
    private let name = "test_\(UInt64.random(in: .min ... .max))"
    public var socketURL: String { cluster.url(of: name) }

    /// Creates a database with the workers and without tables.
    public init(in cluster: CitusCluster) throws {
        self.cluster = cluster
        _ = try cluster.executeEverywhere("CREATE DATABASE \(name)")
        try cluster.connectNodes(of: name)
    }

    /// Creates a copy of a database that was closed: each node copies its part.
    public init(copying template: CitusTestDatabase) throws {
        cluster = template.cluster
        _ = try cluster.executeEverywhere(
            "CREATE DATABASE \(name) TEMPLATE \(template.name) STRATEGY file_copy"
        )
    }

    deinit { _ = try? cluster.executeEverywhere("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }

    @discardableResult
    public func execute(_ sql: String) throws -> String { try cluster.execute(sql, in: name) }

    /// Executes SQL on each node, and returns the rows of all.
    public func executeEverywhere(_ sql: String) throws -> [String] {
        try cluster.executeEverywhere(sql, in: name)
    }

    /// Ends all connections of the nodes, and accepts no others, so that the database can be copied.
    public func close() throws {
        _ = try cluster.executeEverywhere("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
        let ended = Polling.until {
            let counts = try? self.cluster.executeEverywhere(
                """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(self.name)'
                """
            )
            return counts?.allSatisfy { $0 == "0" } ?? false
        }
        guard ended else { throw ChildProcess.Failure(description: "\(name) has connections") }
    }
}
#endif
