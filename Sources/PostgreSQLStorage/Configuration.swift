#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage

/// The settings of a PostgreSQL database and of its store; the store's settings are members too.
@dynamicMemberLookup
public struct PostgreSQLConfiguration: Sendable {
    /// The faults that an acknowledged write survives.
    public enum Durability: String, CaseIterable, Sendable {
        /// What the database server's setting `synchronous_commit` waits for; at least its own disk.
        case full
        /// The end of every process, but not a crash of the database server, which may lose the last commits.
        case relaxed
    }

    /// The database as messages name it: no user and no password.
    public var name: String
    public var durability = Durability.full
    /// The version of this program, for other servers and `doctor`.
    public var programVersion = ""
    public var store: StoreConfiguration
    /// The longest window, in days, of clicks that a new database stores with their day.
    public var shortDays = 2
    /// How long a statement of a job or a command may take.
    package var longTimeLimit: Duration = .seconds(60)
    /// The migrations of this program, as file names and texts; tests add others.
    package var migrations: [(name: String, text: String)] = EmbeddedMigrations.files
    /// The address of the servers; see ``settings``.
    let address: PostgreSQLAddress
    let password: @Sendable () -> String?
    private let hosts = HostNames()
    /// What all connections of a store know of failovers.
    let timelines = HighestTimeline()

    /// - Parameters:
    ///   - url: as in `postgres://user@host/database`.
    ///   - name: the database as messages name it.
    ///   - password: returns the password, at each attempt to connect; nil for libpq's own sources.
    ///   - clock: the wall clock.
    /// - Throws: `incompatible` for a text that is no such URL.
    public init(
        url: String,
        name: String,
        password: @escaping @Sendable () -> String? = { nil },
        clock: WallClock
    ) throws(StoreError) {
        do throws(PostgreSQLAddressError) {
            address = try PostgreSQLAddress(parsing: url, mayHavePassword: true)
        } catch {
            throw StoreError(.incompatible, error.message)
        }
        (self.name, self.password) = (name, password)
        store = StoreConfiguration(clock: clock)
        // Another server's mark of an answer that was lost comes within half a second.
        store.foreignAnswerMilliseconds = 2000
    }

    /// How connections are made.
    var settings: PostgreSQLSettings {
        let hosts = hosts
        var settings = PostgreSQLSettings(address, password: password) { hosts.lookUp($0) }
        // Compiling a statement over all partitions and buckets takes a second, and running it some milliseconds.
        settings.session.append(.init("jit", "off"))
        settings.timelines = timelines
        let index = settings.session.firstIndex { $0.name == "synchronous_commit" }
        if durability == .relaxed, let index { settings.session[index] = .init("synchronous_commit", "off") }
        return settings
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<StoreConfiguration, Value>) -> Value {
        get { store[keyPath: member] }
        set { store[keyPath: member] = newValue }
    }
}

#endif
