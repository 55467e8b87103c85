internal import Attribution
internal import SQLiteStorage
internal import Server
internal import Storage

/// Connects the kinds of database with the rest of the program, which does not know them.
enum Wiring {
    /// The kinds of database: a new one is a case here, and the compiler names the switches that it concerns.
    enum Kind {
        case sqlite
    }

    static func kind(of configuration: Configuration) -> Kind { .sqlite }

    /// The reasons to open a database.
    enum Purpose {
        /// For event loops, with background jobs.
        case serving(clock: WallClock, log: Log)
        /// For one command, perhaps while a process serves.
        case command
        /// For a command that changes nothing.
        case reading
    }

    /// Opens the database, creates it if there is none, and brings it up to date.
    static func openStore(_ configuration: Configuration, for purpose: Purpose) throws(StoreError)
        -> OpenStore
    {
        switch kind(of: configuration) {
        case .sqlite: openStore(try SQLiteStore.open(storeConfiguration(configuration, purpose)))
        }
    }

    private static func openStore(_ store: SQLiteStore) -> OpenStore {
        OpenStore(
            makeStores: {
                let session = store.makeSession()
                return Stores(
                    clicks: session,
                    apps: session,
                    statistics: session,
                    learning: session,
                    checks: session,
                    links: session,
                    endTurn: { session.endTurn() },
                    beginTurn: { session.beginTurn(with: $0) }
                )
            },
            health: { store.health },
            confirm: { checks, now throws(StoreError) in
                try store.confirm(serverKeys: checks, at: now)
            },
            isClockSettled: { store.isClockSettled },
            keyNeeds: { () throws(StoreError) in try store.keyNeeds() },
            forget: { check throws(StoreError) in try store.forget(serverKey: check) },
            stop: { store.stop(within: $0) }
        )
    }

    /// Returns what opening the database would change in it; changes nothing.
    static func migrationPlan(_ configuration: Configuration) throws(StoreError) -> MigrationPlan {
        switch kind(of: configuration) {
        case .sqlite: try SQLiteStore.migrationPlan(storeConfiguration(configuration, .command))
        }
    }

    /// How long a command waits for a slow disk, or for a lock of another process: an operator waits longer than an SDK, and
    /// would only run the command again.
    private static let commandMilliseconds: UInt64 = 30_000

    static func storeConfiguration(
        _ configuration: Configuration,
        _ purpose: Purpose
    ) -> SQLiteConfiguration {
        var settings = SQLiteConfiguration(path: configuration.databasePath, clock: .system)
        settings.retentionSeconds = configuration.retention
        settings.standardWindow = configuration.attributionWindow
        settings.durability = configuration.durability == .full ? .full : .relaxed
        settings.queueLimit = configuration.queueLimit
        switch purpose {
        case .serving(let clock, let log):
            settings.clock = clock
            settings.learnsAtOnce = configuration.usesTestClock
            settings.trustsClock = configuration.usesTestClock
            settings.acceptsClock = configuration.acceptsClock
            settings.log = StoreLog { level, text in log.event(logLevel(level), text) }
        case .command, .reading:
            settings.hasBackgroundWork = false
            settings.timeLimitMilliseconds = commandMilliseconds
            if case .reading = purpose { settings.isReadOnly = true }
        }
        return settings
    }

    private static func logLevel(_ level: StoreLog.Level) -> LogLevel {
        switch level {
        case .information: .info
        case .warning: .warning
        case .error: .error
        }
    }
}
