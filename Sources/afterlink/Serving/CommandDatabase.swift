internal import Attribution
internal import Glibc
internal import Server
internal import Storage

/// The database that a command uses on the main thread, also while another process serves it.
@dynamicMemberLookup
struct CommandDatabase {
    /// The settings that every command on a database takes.
    static let settings = ["database", "database-password-file", "data-directory"]

    /// The maximum time for pending writes at the close, in milliseconds: longer than any write should take.
    private static let closeMilliseconds: UInt64 = 5000

    let store: OpenStore
    private let stores: Stores

    /// Opens the existing database that a command's settings name.
    static func open(_ invocation: Invocation, for purpose: DatabasePurpose = .command) throws
        -> CommandDatabase
    { try open(ConfigurationReader.read(invocation), for: purpose) }

    /// Opens an existing database that is up to date.
    static func open(_ configuration: Configuration, for purpose: DatabasePurpose = .command)
        throws -> CommandDatabase
    {
        try require(configuration)
        try requireCurrent(configuration)
        return try CommandDatabase(configuration, for: purpose)
    }

    /// Requires that a database is up to date; ``Database/survey()`` reads tables that an older database may lack.
    static func requireCurrent(
        _ configuration: Configuration,
        _ advice: String = "Run `afterlink migrate`, or start the service once with this version."
    ) throws {
        guard try explaining(configuration, { try $0.migrationPlan() }).pending.isEmpty else {
            throw CommandFailure.because("The database \(configuration.databaseName) is of an older version.")
                .advising(advice)
        }
    }

    /// Requires an existing database that this user can reach.
    ///
    /// - Throws: if there is no file, if the file does not begin like a database, or if a PostgreSQL database
    ///   has no tables of Afterlink.
    static func require(_ configuration: Configuration) throws {
        guard !configuration.isOnServer else {
            let plan = try explaining(configuration) { try $0.migrationPlan() }
            guard plan.applied.isEmpty else { return }
            throw CommandFailure.because("\(configuration.databaseName) has no tables of Afterlink.")
                .advising("Name another database with --database; `afterlink init` creates the tables.")
        }
        try checkIsNoDirectory(configuration.databasePath)
        try TextFile.requireReach(of: configuration.databasePath)
        guard TextFile.exists(configuration.databasePath) else {
            throw CommandFailure.because("There is no database at \(configuration.databasePath).")
                .advising("Name it with --database or --data-directory; `afterlink init` creates a new one.")
        }
        try explaining(configuration) { try $0.requireHeader(of: configuration.databasePath) }
    }

    /// Returns whether another process may serve a database; call it before this process opens the database.
    static func mayBeServed(_ configuration: Configuration) -> Bool {
        configuration.isOnServer || Wiring.database(configuration).holder() != nil
    }

    /// Requires that the database is a file, which this program copies itself.
    static func requireFile(_ configuration: Configuration) throws {
        guard configuration.isOnServer else { return }
        throw CommandFailure.usage(
            "This command copies SQLite files, and \(configuration.databaseName) is on a server."
        )
        .advising(
            "Use PostgreSQL's own tools: pg_basebackup or pgBackRest with an archive of the write-ahead log copies and"
                + " restores all databases of a server at one moment. Keys in the database are copied with it, and key files"
                + " are not."
        )
    }

    /// Runs an operation on a database, and explains why the database could not be opened.
    static func explaining<Result>(
        _ configuration: Configuration,
        _ operation: (any Database) throws -> Result
    ) throws -> Result {
        try attempt(orElse: CommandFailure.init(opening:)) { try operation(Wiring.database(configuration)) }
    }

    /// Opens a database, creates it if there is none, and brings it up to date.
    static func openOrMake(_ configuration: Configuration) throws -> CommandDatabase {
        try prepareDirectory(configuration)
        return try CommandDatabase(configuration, for: .command)
    }

    /// Creates the data directory if it is missing, and sets the umask so that other users cannot open new files.
    static func prepareDirectory(_ configuration: Configuration) throws {
        umask(0o077)
        if !configuration.isOnServer { try checkIsNoDirectory(configuration.databasePath) }
        let directory = configuration.dataDirectory
        do throws(SystemError) {
            try TextFile.createDirectory(directory)
        } catch {
            let parent = TextFile.directory(of: directory)
            guard error.number != ENOENT || TextFile.exists(parent) else {
                throw CommandFailure.because(
                    "The data directory \(directory) cannot be created: there is no \(parent)."
                ).advising("Run `mkdir -p \(ShellWord.quoted(parent))`, or correct --data-directory.")
            }
            guard error.number != EROFS else {
                throw CommandFailure.because("The data directory cannot be created: \(error.text).")
                    .advising(
                        "Name a directory with --data-directory on a file system that can be written to."
                    )
            }
            throw CommandFailure.because("The data directory cannot be opened: \(error.text).")
                .advising("Create it for the user that Afterlink runs as, or name another one.")
        }
        guard TextFile.isDirectory(directory) else {
            throw CommandFailure.because("The data directory \(directory) is not a directory.")
                .advising("Name a directory with --data-directory, or a database file with --database.")
        }
    }

    private static func checkIsNoDirectory(_ path: String) throws {
        guard TextFile.isDirectory(path) else { return }
        let file = ShellWord.quoted(path + "/afterlink.db")
        throw CommandFailure.because("The database \(path) is a directory.")
            .advising(
                "Name a file in it (--database \(file)), or give --data-directory \(ShellWord.quoted(path))."
            )
    }

    private init(_ configuration: Configuration, for purpose: DatabasePurpose) throws {
        umask(0o077)
        store = try Self.explaining(configuration) { try $0.open(for: purpose) }
        stores = store.makeStores(nil)
    }

    func close() {
        stores.endTurn()
        store.stop(Self.closeMilliseconds)
    }

    /// One of the database's stores.
    subscript<Store>(dynamicMember store: KeyPath<Stores, Store>) -> Store { stores[keyPath: store] }

    func directory() throws -> Directory { try stores.apps.directory() }
}
