public import Attribution
public import Storage

/// The settings of a SQLite database and of its store; the store's settings are members too.
@dynamicMemberLookup
public struct SQLiteConfiguration: Sendable {
    public var path: String
    /// The maximum number of pages of the database; nil for no limit.
    public var pageLimit: Int64?
    public var store: StoreConfiguration
    /// The migrations of this program, as file names and texts; tests add others.
    package var migrations: [(name: String, text: String)] = EmbeddedMigrations.files

    public init(path: String, store: StoreConfiguration) { (self.path, self.store) = (path, store) }

    public init(path: String, clock: WallClock) {
        self.init(path: path, store: StoreConfiguration(clock: clock))
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<StoreConfiguration, Value>) -> Value {
        get { store[keyPath: member] }
        set { store[keyPath: member] = newValue }
    }
}
