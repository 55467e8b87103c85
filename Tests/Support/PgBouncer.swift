#if PostgreSQL
internal import Foundation
internal import Glibc

/// PgBouncer in session mode in front of a PostgreSQL server; it ends with this value or with this process.
///
/// It listens on a port of 127.0.0.1, where a client needs the server's password. It refuses to run as root,
/// so it runs as PostgreSQL's user.
public final class PgBouncer: Sendable {
    /// Whether the program is installed: the package `pgbouncer`.
    public static var isInstalled: Bool { program != nil }
    /// The reason for skipping suites if the program is not installed.
    public static let missing = "PgBouncer or PostgreSQL is not installed (packages pgbouncer and postgresql)"

    // Debian's folder for PgBouncer, /usr/sbin, is only in the PATH of root.
    private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    public let port: UInt16
    private let cluster: PostgreSQLCluster
    private let supervisor: Supervisor

    /// Starts PgBouncer, and waits until it listens.
    ///
    /// - Parameters:
    ///   - cluster: the server.
    ///   - settings: lines of `pgbouncer.ini`.
    /// - Throws: if the program is missing or does not start.
    public init(before cluster: PostgreSQLCluster, _ settings: [String] = []) throws {
        guard let program = Self.program else { throw ChildProcess.Failure(description: Self.missing) }
        guard let port = Loopback.freePort() else { throw ChildProcess.Failure(description: "no free port") }
        let name = "pgbouncer-\(port)"
        let path = cluster.folder.appending(path: name).path
        let lines =
            [
                "[databases]", "* = host=127.0.0.1 port=\(cluster.port)", "[pgbouncer]",
                "listen_addr = 127.0.0.1", "listen_port = \(port)", "unix_socket_dir =",
                "auth_type = scram-sha-256", "auth_file = \(path).users", "logfile = \(path).log",
                "pool_mode = session", "default_pool_size = 50",
            ] + settings
        try cluster.write(lines.joined(separator: "\n") + "\n", to: "\(name).ini")
        try cluster.write("\"\(PostgreSQLCluster.user)\" \"\(cluster.password)\"\n", to: "\(name).users")
        (self.cluster, self.port) = (cluster, port)
        supervisor = try Supervisor(
            PostgreSQLCluster.asServerUser(["sh", "-c", Self.script, "sh", program, "\(path).ini"])
        )
        let listens = Polling.until {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            return Loopback.connect(descriptor, toPort: port)
        }
        guard listens else {
            throw ChildProcess.Failure(description: "PgBouncer does not listen: \(path).log")
        }
    }

    /// Runs PgBouncer, and ends it when the pipe closes.
    ///
    /// It inherits the blocked signals of the test's thread, so SIGTERM would not end it.
    private static let script = #"""
        "$1" "$2" </dev/null >/dev/null 2>&1 &
        read -r _
        kill -KILL $!
        """#

    /// Returns the URL of one of the server's databases through PgBouncer.
    public func url(of database: PostgreSQLTestDatabase) -> String {
        database.tcpURL.replacing(":\(cluster.port)/", with: ":\(port)/")
    }
}
#endif
