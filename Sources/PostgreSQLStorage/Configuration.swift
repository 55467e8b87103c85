#if PostgreSQL
public import Attribution
internal import PostgreSQL
public import Storage

/// The settings of a PostgreSQL database and of its store; the store's settings are members too.
@dynamicMemberLookup
public struct PostgreSQLConfiguration: Sendable {
    /// The name of the database in messages, without user and password.
    public var name: String
    /// The version of this program, for other servers and `doctor`.
    public var programVersion = ""
    public var store: StoreConfiguration
    /// A new database stores clicks with windows of at most this many days in the partitions of their days.
    public var shortDays = 2
    /// How long a statement of a job or a command may take.
    package var longTimeLimit: Duration = .seconds(60)
    /// The migrations of this program, as file names and texts; tests add others.
    package var migrations: [(name: String, text: String)] = EmbeddedMigrations.files
    /// The addresses of the database servers; see ``settings``.
    let address: PostgreSQLAddress
    /// How Citus distributes the large tables; known after the database was opened.
    var shards = BucketShards()
    let password: @Sendable () throws(StoreError) -> String?
    private let hosts = HostNames()
    /// What all connections of a store know of failovers.
    let timelines = HighestTimeline()

    /// - Parameters:
    ///   - url: as in `postgres://user@host/database`.
    ///   - name: the database as messages name it.
    ///   - password: returns the password, at each attempt to connect; nil for libpq's own sources. If it
    ///     throws, the attempt fails with the explanation of the error.
    ///   - store: the settings of its store.
    /// - Throws: `incompatible` for a text that is no such URL.
    public init(
        url: String,
        name: String,
        password: @escaping @Sendable () throws(StoreError) -> String? = { nil },
        store: StoreConfiguration
    ) throws(StoreError) {
        do throws(PostgreSQLAddressError) {
            address = try PostgreSQLAddress(parsing: url, mayHavePassword: true)
        } catch { throw StoreError(.incompatible, error.message) }
        (self.name, self.password, self.store) = (name, password, store)
        // A server may mark a lost answer as undelivered in the first three quarters of this time. The last
        // quarter, half a second, is for the commit of the mark.
        self.store.foreignAnswerMilliseconds = store.foreignAnswerMilliseconds ?? 2000
        // The database server takes several times as long for a row as SQLite does, and clicks and claims wait behind a
        // long write, so a write has fewer rows here.
        (self.store.recordsAtOnce, self.store.learntSumsAtOnce) = (128, 200)
    }

    /// Creates the settings of a store with all defaults; see ``init(url:name:password:store:)``.
    public init(url: String, name: String, clock: WallClock) throws(StoreError) {
        try self.init(url: url, name: name, store: StoreConfiguration(clock: clock))
    }

    /// How connections are made.
    var settings: PostgreSQLSettings {
        let (hosts, password) = (hosts, password)
        var settings = PostgreSQLSettings(
            address,
            password: { () throws(PostgreSQLError) in
                do throws(StoreError) {
                    return try password()
                } catch {
                    throw PostgreSQLError(.password, error.explanation)
                }
            },
            lookUp: { hosts.lookUp($0) }
        )
        // Compiling a statement over all partitions and buckets takes a second, and running it some milliseconds.
        settings.session.append(.init("jit", "off"))
        settings.timelines = timelines
        let index = settings.session.firstIndex { $0.name == "synchronous_commit" }
        if store.durability == .relaxed, let index {
            settings.session[index] = .init("synchronous_commit", "off")
        }
        return settings
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<StoreConfiguration, Value>) -> Value {
        get { store[keyPath: member] }
        set { store[keyPath: member] = newValue }
    }
}

#endif
