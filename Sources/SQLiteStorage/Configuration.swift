public import Attribution
public import Storage

/// A database on SQLite: its file, and how its store works, whose settings are members too.
@dynamicMemberLookup
public struct SQLiteConfiguration: Sendable {
    /// What an acknowledged write survives.
    public enum Durability: String, CaseIterable, Sendable {
        /// A power cut: each commit is synced to disk before its callers are answered.
        case full
        /// The death of the process, but not of the machine, with which the commits of the last seconds may be lost.
        case relaxed
    }

    public var path: String
    public var durability = Durability.full
    /// Pages that the database may have; nil: as many as the disk holds.
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
