internal import Server

/// A database that is open, whichever kind it is.
struct OpenStore: Sendable {
    /// A view for one thread, to be made on it.
    let makeStores: @Sendable () -> Stores
    let health: @Sendable () -> StoreHealth
    /// Finishes what waits, for so many milliseconds at most, and closes.
    let stop: @Sendable (_ milliseconds: UInt64) -> Void
}

/// Which migrations a database has and which it lacks.
struct MigrationOutline: Equatable, Sendable {
    /// File names, ascending.
    let applied: [String]
    /// File names, ascending.
    let pending: [String]
    /// Where the database would be copied to before; nil when there is nothing to copy.
    let backupPath: String?
}
