internal import Attribution
internal import Glibc
internal import Server
internal import Storage

/// The database as a command uses it, alone or beside a serving process, on the main thread.
struct CommandDatabase {
    /// The settings that every command on a database takes.
    static let settings = ["database", "data-directory"]

    /// Longer than any write is meant to wait.
    private static let patience: UInt64 = 5000

    let store: OpenStore
    private let stores: Stores

    /// Opens an existing database that is up to date, while a process serves or not.
    static func open(_ configuration: Configuration, for purpose: DatabasePurpose = .command)
        throws -> CommandDatabase
    {
        let path = configuration.databasePath
        try require(configuration)
        guard try migrationPlan(configuration).pending.isEmpty else {
            throw CommandFailure.because("The database \(path) is of an older version.")
                .advising("Run `afterlink migrate`, or start the service once with this version.")
        }
        return try CommandDatabase(configuration, for: purpose)
    }

    /// - Throws: where there is no database, or a file that cannot be one.
    static func require(_ configuration: Configuration) throws {
        try checkIsNoDirectory(configuration.databasePath)
        try TextFile.requireReach(of: configuration.databasePath)
        guard TextFile.exists(configuration.databasePath) else {
            throw CommandFailure.because("There is no database at \(configuration.databasePath).")
                .advising("Name it with --database or --data-directory; `afterlink init` makes a new one.")
        }
        try CommandDatabase.explaining(configuration) { try $0.requireHeader(of: configuration.databasePath) }
    }

    /// Runs an operation on a database, and explains why it could not be opened.
    static func explaining<Result>(
        _ configuration: Configuration,
        _ operation: (any Database) throws -> Result
    ) throws -> Result {
        try attempt({ try operation(Wiring.database(configuration)) }, orElse: CommandFailure.init(opening:))
    }

    /// Opens a database, makes it where there is none, and brings it up to date.
    static func openOrMake(_ configuration: Configuration) throws -> CommandDatabase {
        try prepareDirectory(configuration)
        return try CommandDatabase(configuration, for: .command)
    }

    /// Which migrations the database has and which it lacks.
    static func migrationPlan(_ configuration: Configuration) throws -> MigrationPlan {
        try CommandDatabase.explaining(configuration) { try $0.migrationPlan() }
    }

    /// Makes the data directory if it is named and missing, and sees to it that all files are their owner's only.
    static func prepareDirectory(_ configuration: Configuration) throws {
        umask(0o077)
        try checkIsNoDirectory(configuration.databasePath)
        do throws(SystemError) {
            try TextFile.createDirectory(configuration.dataDirectory)
        } catch {
            let parent = TextFile.directory(of: configuration.dataDirectory)
            guard error.number != ENOENT || TextFile.exists(parent) else {
                throw CommandFailure(
                    "The data directory \(configuration.dataDirectory) cannot be made: there is no \(parent).",
                    advice: "Run `mkdir -p \(ShellWord.quoted(parent))`, or correct --data-directory."
                )
            }
            guard error.number != EROFS else {
                throw CommandFailure.because("The data directory cannot be made: \(error.text).")
                    .advising("Name one with --data-directory on a file system that can be written to.")
            }
            throw CommandFailure.because("The data directory is out of reach: \(error.text).")
                .advising("Make it, owned by the user that Afterlink runs as, or name another one.")
        }
        guard TextFile.isDirectory(configuration.dataDirectory) else {
            throw CommandFailure(
                "The data directory \(configuration.dataDirectory) is no directory.",
                advice: "Name a directory with --data-directory; a file of its own is named with --database."
            )
        }
    }

    private static func checkIsNoDirectory(_ path: String) throws {
        guard TextFile.isDirectory(path) else { return }
        throw CommandFailure.because("The database \(path) is a directory.")
            .advising(
                "Name a file in it, as in --database \(ShellWord.quoted(path + "/afterlink.db")), or give"
                    + " --data-directory \(ShellWord.quoted(path))."
            )
    }

    private init(_ configuration: Configuration, for purpose: DatabasePurpose) throws {
        umask(0o077)
        store = try CommandDatabase.explaining(configuration) { try $0.open(for: purpose) }
        stores = store.makeStores()
    }

    func close() {
        stores.endTurn()
        store.stop(Self.patience)
    }

    var apps: any AppStore { stores.apps }
    var links: any LinkStore { stores.links }
    var learning: any LearningStore { stores.learning }
    var checks: any CheckStore { stores.checks }
    var statistics: any StatsStore { stores.statistics }

    func directory() throws -> Directory { try apps.directory() }
}
