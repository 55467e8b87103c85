public import Attribution
public import Storage

/// The settings of a SQLite database and of its store; the store's settings are members too.
@dynamicMemberLookup
public struct SQLiteConfiguration: Sendable {
    /// The faults that an acknowledged write survives.
    public enum Durability: String, CaseIterable, Sendable {
        /// A power cut: the store syncs each commit to disk before it acknowledges its writes.
        case full
        /// The end of the process, but not a crash of the machine, which may lose the commits of the last seconds.
        case relaxed
    }

    public var path: String
    public var durability = Durability.full
    /// The maximum number of pages of the database; nil for no limit.
    public var pageLimit: Int64?
    public var store: StoreConfiguration
    /// The migrations of this program, as file names and texts; tests add others.
    package var migrations: [(name: String, text: String)] = EmbeddedMigrations.files

    public init(path: String, clock: WallClock) {
        self.path = path
        store = StoreConfiguration(clock: clock)
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<StoreConfiguration, Value>) -> Value {
        get { store[keyPath: member] }
        set { store[keyPath: member] = newValue }
    }
}
