#if PostgreSQL
internal import Synchronization

/// The highest timeline that connections to a database have seen; each promotion of a standby starts a higher one.
///
/// All connections of a process share it. A former primary that comes back, or that never noticed the
/// promotion, accepts writes as the new primary does. Without this memory, one connection could use the
/// former primary while another uses the new one.
public final class HighestTimeline: Sendable {
    private let number = Atomic<Int64>(0)

    public init() {}

    /// The highest timeline that a connection has seen; connections to a server with a lower timeline end.
    var highest: Int64 { number.load(ordering: .relaxed) }

    /// Stores a primary's timeline; returns false, and stores nothing, if a connection has seen a higher one.
    package func accept(_ timeline: Int64) -> Bool {
        number.max(timeline, ordering: .relaxed).oldValue <= timeline
    }
}

/// The settings of connections to a PostgreSQL database.
public struct PostgreSQLSettings: Sendable {
    /// The state of a host name's look-up, which a separate thread performs because it blocks.
    public enum HostLookup: Sendable {
        /// Numeric addresses; none if the name has no address.
        case addresses([String])
        /// The connection asks again in a few milliseconds.
        case underWay
    }

    /// A setting of the server's session, with its value in the form of `pg_settings.setting`.
    public struct SessionSetting: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public var address: PostgreSQLAddress
    /// Returns the password at each attempt to connect.
    ///
    /// Nil means the password of the address; if that has none, libpq reads `PGPASSWORD` and `.pgpass`.
    public var password: @Sendable () throws(PostgreSQLError) -> String?
    /// Returns the state of a host name's look-up, without waiting.
    public var lookUp: @Sendable (_ host: String) -> HostLookup
    /// The settings that each connection sets, and reads back before it is used.
    public var session = [
        SessionSetting("default_transaction_isolation", "read committed"),
        SessionSetting("lock_timeout", "500"),
        SessionSetting("idle_in_transaction_session_timeout", "5000"),
        // A limit that ends a COMMIT would cancel its wait for the standby.
        SessionSetting("statement_timeout", "0"),
        SessionSetting("synchronous_commit", "on"),
        SessionSetting("client_encoding", "UTF8"),
    ]
    /// The timelines that these connections have seen; copies of the settings share them.
    public var timelines = HighestTimeline()
    /// How long an attempt to connect to one address may take.
    public var connectTimeout: Duration
    /// The maximum time for which the server may send nothing while statements wait for it.
    ///
    /// After this time, a second connection probes the server; without ``probeTimeout``, the connection counts as lost.
    public var silenceLimit: Duration = .seconds(3)
    /// The time limit for a second connection, which probes a silent server.
    ///
    /// If the server accepts the second connection, the server works, and only a statement takes long. The
    /// first connection is then kept, and the server is probed again after ``silenceLimit``. If the time
    /// limit is nil, a silent connection is given up without a probe.
    public var probeTimeout: Duration?
    /// The maximum time before the first new attempt after a loss; the minimum is half of it.
    ///
    /// With each failure, the time doubles up to ``longestRetryDelay``.
    public var firstRetryDelay: Duration = .milliseconds(50)
    public var longestRetryDelay: Duration = .seconds(2)

    /// - Parameters:
    ///   - address: the servers, the user and the database.
    ///   - password: returns the password; nil for the password of the address.
    ///   - lookUp: returns the state of a host name's look-up, without waiting.
    public init(
        _ address: PostgreSQLAddress,
        password: @escaping @Sendable () throws(PostgreSQLError) -> String? = { nil },
        lookUp: @escaping @Sendable (_ host: String) -> HostLookup
    ) {
        (self.address, self.password, self.lookUp) = (address, password, lookUp)
        connectTimeout = address.connectTimeout
    }

    /// Returns the parameters of libpq for one host with its numeric address, which is nil for a Unix socket.
    ///
    /// - Throws: if the password cannot be read.
    func words(_ host: PostgreSQLAddress.Host, numericAddress: String?) throws(PostgreSQLError)
        -> [(name: String, value: String)]
    {
        // A space separates options, and a backslash escapes it.
        let options = session.map { setting in
            "-c \(setting.name)="
                + setting.value.reduce(into: "") { $0 += $1 == " " || $1 == "\\" ? "\\\($1)" : "\($1)" }
        }
        var words = [
            ("host", host.name), ("port", String(host.port)), ("user", address.user),
            ("dbname", address.database), ("options", options.joined(separator: " ")),
            // With Kerberos, libpq would wait for Kerberos servers.
            ("gssencmode", "disable"),
            ("tcp_user_timeout", "3000"), ("keepalives_idle", "5"), ("keepalives_interval", "1"),
            ("keepalives_count", "3"),
        ]
        if let numericAddress { words.append(("hostaddr", numericAddress)) }
        if let password = try password() ?? address.password { words.append(("password", password)) }
        words += address.libraryWords
        return words
    }
}

#endif
