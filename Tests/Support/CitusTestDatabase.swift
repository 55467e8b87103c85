#if PostgreSQL
public import Foundation

/// The Citus cluster whose coordinator `AFTERLINK_TEST_CITUS` names.
///
/// `.ci/citus` starts such a cluster. Its nodes need no password.
public final class CitusCluster: Sendable {
    /// A server of the cluster; a test can start it again only if it is on the test's machine.
    public struct Node: DatabaseServer {
        let host: String
        let port: Int
        public let data: String
        private let programs: String

        init(host: String, port: Int) throws {
            (self.host, self.port) = (host, port)
            let paths = try Self.execute(
                """
                SELECT current_setting('data_directory'), setting FROM pg_config WHERE name = 'BINDIR'
                """,
                on: (host, port)
            ).split(separator: "|").map(String.init)
            guard paths.count == 2 else { throw ChildProcess.Failure(description: "no folder: \(paths)") }
            (data, programs) = (paths[0], paths[1])
        }

        public func start() throws {
            let command = ["\(programs)/pg_ctl", "-D", data, "-l", "\(data).log", "-s", "-w", "start"]
            _ = try PostgreSQLCluster.runProgram(PostgreSQLCluster.asServerUser(command))
        }

        @discardableResult
        public func execute(_ sql: String, in database: String) throws -> String {
            try Self.execute(sql, on: (host, port), in: database)
        }

        /// Tests may join tables as no store does, and create triggers.
        static func execute(
            _ sql: String,
            on address: (host: String, port: Int),
            in database: String = "postgres"
        ) throws -> String {
            try PostgreSQLCluster.execute(
                sql,
                on: "host=\(address.host) port=\(address.port) user=\(PostgreSQLCluster.user)"
                    + " dbname=\(database)",
                settings: " -c citus.enable_repartition_joins=on -c citus.enable_unsafe_triggers=on"
            )
        }
    }

    /// The coordinator's address; nil without the variable.
    public static let address: URL? = ProcessInfo.processInfo.environment["AFTERLINK_TEST_CITUS"]
        .flatMap { URL(string: $0) }

    public let coordinator: Node
    public let workers: [Node]

    /// - Throws: if there is no variable, or the coordinator cannot be reached.
    public init() throws {
        guard let address = Self.address, let host = address.host(), let port = address.port else {
            throw ChildProcess.Failure(description: "AFTERLINK_TEST_CITUS names no coordinator")
        }
        coordinator = try Node(host: host, port: port)
        let nodes = try coordinator.execute(
            "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY 1, 2",
            in: "postgres"
        )
        workers = try nodes.split(separator: "\n").compactMap { line in
            let words = line.split(separator: "|")
            guard words.count == 2, let port = Int(words[1]) else { return nil }
            return try Node(host: String(words[0]), port: port)
        }
    }

    fileprivate func url(of database: String, as user: String) -> String {
        "postgres://\(user)@\(coordinator.host):\(coordinator.port)/\(database)?sslmode=disable"
    }

    /// Executes SQL on each node, and returns the rows of all.
    @discardableResult
    public func executeEverywhere(_ sql: String, in database: String = "postgres") throws -> [String] {
        try ([coordinator] + workers).map { try $0.execute(sql, in: database) }
    }

    /// Adds the workers to a new database.
    fileprivate func connectNodes(of database: String) throws {
        try executeEverywhere("CREATE EXTENSION citus", in: database)
        let setting = "SELECT citus_set_coordinator_host('\(coordinator.host)', \(coordinator.port))"
        let additions = workers.map { "SELECT citus_add_node('\($0.host)', \($0.port))" }
        for statement in [setting] + additions { try coordinator.execute(statement, in: database) }
    }
}

/// A database of one test on all nodes of a Citus cluster, which is deleted with this value.
public final class CitusTestDatabase: SQLTestDatabase {
    private let cluster: CitusCluster
    public let name = "test_\(UInt64.random(in: .min ... .max))"
    public var socketURL: String { url(as: PostgreSQLCluster.user) }

    /// The URL with which a user connects to the coordinator.
    public func url(as user: String) -> String { cluster.url(of: name, as: user) }

    /// Creates a database without tables on each node; `hasWorkers` adds Citus and the workers to it.
    public init(in cluster: CitusCluster, hasWorkers: Bool = true) throws {
        self.cluster = cluster
        try cluster.executeEverywhere("CREATE DATABASE \(name)")
        if hasWorkers { try cluster.connectNodes(of: name) }
    }

    /// Creates a copy of a database that was closed: each node copies its part.
    public init(copying template: CitusTestDatabase) throws {
        cluster = template.cluster
        try cluster.executeEverywhere("CREATE DATABASE \(name) TEMPLATE \(template.name) STRATEGY file_copy")
    }

    deinit { _ = try? cluster.executeEverywhere("DROP DATABASE IF EXISTS \(name) WITH (FORCE)") }

    @discardableResult
    public func execute(_ sql: String) throws -> String { try cluster.coordinator.execute(sql, in: name) }

    /// Executes SQL on each node, and returns the rows of all.
    public func executeEverywhere(_ sql: String) throws -> [String] {
        try cluster.executeEverywhere(sql, in: name)
    }

    /// The number of transactions on all nodes that are prepared, and neither committed nor rolled back.
    public func preparedCount() throws -> Int {
        try executeEverywhere(
            "SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()"
        ).reduce(0) { $0 + (Int($1) ?? 0) }
    }

    /// Ends all connections to the database, and refuses new ones, so that the database can be copied.
    public func close() throws {
        try cluster.executeEverywhere("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
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
