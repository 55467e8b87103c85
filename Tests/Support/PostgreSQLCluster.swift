#if PostgreSQL
public import Foundation
internal import Synchronization
public import Testing

/// A PostgreSQL server with its own data in a temporary folder.
///
/// When this process ends, the server stops and the folder is deleted. The server listens on a Unix socket in
/// ``folder``, which needs no password, and on a port of 127.0.0.1, which does. By default, it flushes its
/// files to disk (`fsync`), as in production. It refuses to run as root, so tests that run as root start it
/// as another user.
public final class PostgreSQLCluster: DatabaseServer {
    /// Whether the programs of a server are installed: the package `postgresql`.
    public static var isInstalled: Bool { programs != nil }
    /// The reason for skipping suites if the programs are not installed.
    public static let missing = "the programs of a PostgreSQL server are not installed (package postgresql)"

    /// The folder of the server's programs and of `pgbench`; nil if they are not installed.
    public static let programs: URL? = {
        guard let output = try? ExternalProgram.run("pg_config", ["--bindir"]) else { return nil }
        let path = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let folder = URL(filePath: path, directoryHint: .isDirectory)
        let isServer = FileManager.default.isExecutableFile(atPath: folder.appending(path: "initdb").path)
        return isServer ? folder : nil
    }()

    /// The cluster that all suites share; tests that stop a server or change its settings start one of their own.
    public static func shared() throws -> PostgreSQLCluster { try common.get() }

    private static let common = Result { try PostgreSQLCluster() }

    /// How a server stops: `fast` ends its connections, `immediate` is like a crash.
    public enum StopMode: String, Sendable {
        case fast = "fast"
        case immediate = "immediate"
    }

    public static let user = "postgres"
    /// The folder of the server's files and of its Unix socket.
    public let folder: URL
    public let port: UInt16
    /// The password of ``user``.
    public let password: String
    /// The certificate of the server for the name `localhost`, a PEM file.
    public var certificate: String { folder.appending(path: "server.crt").path }
    private let programs: URL
    private let supervisor: Supervisor

    /// Creates and starts a server.
    ///
    /// - Parameters:
    ///   - configuration: lines of `postgresql.conf`.
    ///   - dataFolder: a new folder for the data, which is not deleted; nil for a folder in ``folder``.
    ///   - primary: the server whose data this one copies and whose standby it becomes; nil for a server with
    ///     new data.
    ///   - environment: returns variables of the server's environment; its argument is the folder of the data.
    /// - Throws: if the programs are missing or fail.
    public init(
        _ configuration: [String] = [],
        dataFolder: URL? = nil,
        standbyOf primary: PostgreSQLCluster? = nil,
        environment: (_ data: URL) throws -> [String: String] = { _ in [:] }
    ) throws {
        guard let programs = Self.programs else { throw ChildProcess.Failure(description: Self.missing) }
        guard let port = Loopback.freePort() else { throw ChildProcess.Failure(description: "no free port") }
        self.programs = programs
        self.port = port
        folder = try Self.makeFolder()
        if let dataFolder {
            try FileManager.default.createDirectory(at: dataFolder, withIntermediateDirectories: true)
            try FileManager.default.setAttributes(Self.attributes, ofItemAtPath: dataFolder.path)
            let link = folder.appending(path: "data").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: dataFolder.path)
        }
        let initial = try InitialData.common.get()
        password = initial.password
        supervisor = try Supervisor(
            Self.asServerUser(
                ["env"] + environment(folder.appending(path: "data")).map { "\($0.key)=\($0.value)" } + [
                    "sh", "-c", Self.script, "sh", programs.appending(path: "pg_ctl").path, folder.path,
                ]
            )
        )
        // From here on, all files in the folder are written as the server's user.
        if let primary {
            try run(
                "pg_basebackup",
                [
                    "-D", data, "-h", primary.folder.path, "-p", "\(primary.port)", "-U", Self.user,
                    "--checkpoint=fast", "--write-recovery-conf", "--no-sync",
                ]
            )
        } else {
            // Copies the content of the first folder into the second.
            let script = #"mkdir -p -m 700 "$2" && cp -a "$1/." "$2""#
            _ = try Self.runProgram(Self.asServerUser(["sh", "-c", script, "sh", initial.data, data]))
        }
        let identityOfServer = try TestCertificate("localhost")
        try write(String(decoding: identityOfServer.certificate, as: UTF8.self), to: "server.crt")
        try write(String(decoding: identityOfServer.key, as: UTF8.self), to: "server.key")
        let lines =
            [
                "listen_addresses = '127.0.0.1'", "port = \(port)",
                "unix_socket_directories = '\(folder.path)'",
                "max_connections = 200", "shared_buffers = 64MB", "ssl = on",
                "ssl_cert_file = '\(certificate)'", "ssl_key_file = '\(folder.path)/server.key'",
            ] + configuration
        try write(lines.joined(separator: "\n"), to: "afterlink.conf")
        try write("include '\(folder.path)/afterlink.conf'\n", to: "data/postgresql.conf")
        try start()
    }

    public var data: String { folder.appending(path: "data").path }

    /// Makes a folder of the server's user, which only this user can read.
    static func makeFolder() throws -> URL {
        let folder = TemporaryFolder.fresh("afterlink-pg")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.setAttributes(attributes, ofItemAtPath: folder.path)
        return folder
    }

    private static var attributes: [FileAttributeKey: Any] {
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        guard let identity else { return mode }
        let owner: [FileAttributeKey: Any] = [
            .ownerAccountID: identity.user, .groupOwnerAccountID: identity.group,
        ]
        return mode.merging(owner) { $1 }
    }

    /// The user that runs the server if this process is root's; nil to run it as this process's user.
    private static let identity: (user: Int, group: Int)? = {
        guard geteuid() == 0 else { return nil }
        // The entry is valid until the next call, and this runs once in the process.
        guard let entry = unsafe getpwnam("postgres") ?? getpwnam("nobody") else { return (65_534, 65_534) }
        return unsafe (Int(entry.pointee.pw_uid), Int(entry.pointee.pw_gid))
    }()

    /// Returns a command line that runs the program as the server's user.
    static func asServerUser(_ command: [String]) -> [String] {
        guard let identity else { return command }
        return ["setpriv", "--reuid", "\(identity.user)", "--regid", "\(identity.group)", "--clear-groups"]
            + command
    }

    /// Runs commands of pg_ctl, and when their pipe closes, stops the server and deletes the folder.
    private static let script = #"""
        while read -r words; do "$1" -D "$2/data" -l "$2/log" -s -w $words </dev/null; echo $?; done
        "$1" -D "$2/data" -m immediate -s stop
        rm -rf "$2"
        """#

    /// Writes a file that belongs to the server's user, and that only this user can read.
    func write(_ text: String, to name: String) throws {
        let path = folder.appending(path: name).path
        let script = #"umask 077; printf '%s' "$1" >"$2""#
        _ = try Self.runProgram(Self.asServerUser(["sh", "-c", script, "sh", text, path]))
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        _ = try Self.runProgram(Self.asServerUser([programs.appending(path: program).path] + arguments))
    }

    static func runProgram(_ command: [String]) throws -> String {
        let output = try ChildProcess.run(URL(filePath: "/usr/bin/env"), command, in: "/")
        guard output.status == 0 else {
            throw ChildProcess.Failure(
                description: "\(command): \(output.errors.suffix(1000)) \(output.text)"
            )
        }
        return output.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension PostgreSQLCluster {
    /// Starts the server, and waits until it accepts connections.
    ///
    /// It tries again for a while: the system may have given the chosen port to a connection of another program.
    public func start() throws {
        let end = ContinuousClock.now.advanced(by: .seconds(20))
        while true {
            do {
                return try supervisor.control("start")
            } catch {
                guard ContinuousClock.now < end else { throw error }
            }
        }
    }

    public func stop(_ mode: StopMode) throws { try supervisor.control("stop -m \(mode.rawValue)") }

    /// Makes a standby the primary, and waits until it is.
    public func promote() throws { try supervisor.control("promote") }
}

/// A PostgreSQL server for tests that kill its processes.
public protocol DatabaseServer: Sendable {
    /// The path of the data's folder.
    var data: String { get }
    func start() throws
    @discardableResult
    func execute(_ sql: String, in database: String) throws -> String
}

extension DatabaseServer {
    /// The process that started all others of the server; nil if the server is stopped.
    public var postmaster: Int32? {
        let file = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
        return file?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Starts the server after its first process was killed; tries until the other processes have noticed and ended.
    public func startAfterKill() throws {
        let end = Polling.end
        while true {
            do {
                return try start()
            } catch {
                guard ContinuousClock.now < end else { throw error }
            }
        }
    }

    /// Waits until the server accepts connections after the kill of one of its processes.
    public func waitUntilServing() throws {
        let isServing = Polling.until { (try? execute("SELECT 1", in: "postgres")) == "1" }
        guard isServing else { throw ChildProcess.Failure(description: "the server does not start again") }
    }
}

/// A database of one test, to which a store connects by a URL.
public protocol SQLTestDatabase: AnyObject, Sendable {
    var name: String { get }
    var socketURL: String { get }
    @discardableResult
    func execute(_ sql: String) throws -> String
}

/// A database of one test, which is deleted with this value, or given back to the ``TestCluster`` that lent it.
public final class PostgreSQLTestDatabase: SQLTestDatabase {
    public let cluster: PostgreSQLCluster
    public let name: String
    private let keepsConnection: Bool
    private let connection = Mutex<KeptConnection?>(nil)
    /// The database that a cluster lent, and the function that gives it back; nil if this value created its
    /// database.
    private let loan:
        (database: PostgreSQLTestDatabase, giveBack: @Sendable (PostgreSQLTestDatabase) -> Void)?

    /// Creates an empty database, or a copy of a template that has no connections.
    ///
    /// - Parameters:
    ///   - cluster: the server.
    ///   - template: the database to copy.
    ///   - keepsConnection: whether the test's statements share one connection; if not, each of them opens a
    ///     new one.
    /// - Throws: the server's error.
    public init(
        in cluster: PostgreSQLCluster,
        copying template: PostgreSQLTestDatabase? = nil,
        keepsConnection: Bool = false
    ) throws {
        (self.cluster, self.keepsConnection, loan) = (cluster, keepsConnection, nil)
        name = "test_\(UInt64.random(in: .min ... .max))"
        // Measured on PostgreSQL 15 in memory: 24 ms for a copy of 8 MB; 62 ms without this strategy.
        let copying = template.map { " TEMPLATE \($0.name) STRATEGY file_copy" } ?? ""
        try cluster.execute("CREATE DATABASE \(name)\(copying)")
    }

    /// Creates a database in the shared cluster.
    public convenience init() throws { try self.init(in: .shared()) }

    /// Lends a database until the new value is released.
    init(
        lending database: PostgreSQLTestDatabase,
        giveBack: @escaping @Sendable (PostgreSQLTestDatabase) -> Void
    ) {
        (cluster, name, keepsConnection) = (database.cluster, database.name, database.keepsConnection)
        loan = (database, giveBack)
    }

    deinit {
        if let loan {
            loan.giveBack(loan.database)
        } else {
            _ = try? cluster.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        }
    }

    @discardableResult
    public func execute(_ sql: String) throws -> String {
        if let loan { return try loan.database.execute(sql) }
        guard keepsConnection else { return try cluster.execute(sql, in: name) }
        // A statement of another thread meanwhile gets a connection of its own.
        let kept = connection.withLock { kept in
            defer { kept = nil }
            return kept
        }
        let own = kept ?? KeptConnection(cluster.words(for: name))
        defer { if own.isIdle { connection.withLock { $0 = own } } }
        return try own.execute(sql)
    }

    /// The URL of the database through the Unix socket.
    public var socketURL: String {
        "postgres://\(PostgreSQLCluster.user)@/\(name)?host=\(cluster.folder.path)&port=\(cluster.port)"
    }

    /// The URL of the database through TCP, which needs the cluster's password.
    public var tcpURL: String {
        "postgres://\(PostgreSQLCluster.user)@127.0.0.1:\(cluster.port)/\(name)"
    }
}

/// The shell that starts and stops a server, in a session of its own.
///
/// Its input is a pipe, which closes with this value or with this process, even if the process is killed.
final class Supervisor: Sendable {
    private let ends: Mutex<(commands: FileHandle, statuses: FileHandle)>

    init(_ command: [String]) throws {
        let (input, output) = (Pipe(), Pipe())
        _ = try SpawnedProgram(
            URL(filePath: "/usr/bin/setsid"),
            command,
            in: "/",
            (.pipe(input.fileHandleForReading), .pipe(output.fileHandleForWriting), .none)
        )
        ends = Mutex((input.fileHandleForWriting, output.fileHandleForReading))
    }

    /// Runs one command of pg_ctl, and waits for its end.
    func control(_ words: String) throws {
        try ends.withLock { ends in
            try ends.commands.write(contentsOf: Data((words + "\n").utf8))
            var status = ""
            var byte: UInt8 = 0
            while byte != UInt8(ascii: "\n") {
                // The call fills the local value. `FileHandle` would throw when a signal interrupts the wait.
                let count = unsafe read(ends.statuses.fileDescriptor, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count == 1 else { break }
                status.append(Character(Unicode.Scalar(byte)))
            }
            guard status == "0\n" else {
                throw ChildProcess.Failure(description: "pg_ctl \(words): \(status)")
            }
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// The tests need the programs of a PostgreSQL server, and are skipped without these.
    public static var onPostgreSQL: Self {
        .enabled(if: PostgreSQLCluster.isInstalled, "\(PostgreSQLCluster.missing)")
    }
}
#endif
