internal import Attribution
internal import JSON
internal import Server
internal import Storage
internal import Threads

/// A database of any kind, such as SQLite; only ``Wiring`` names the kinds.
///
/// Each error has a code, from which ``CommandFailure`` derives the advice on what to do.
protocol Database: Sendable {
    /// The name and version of the library that it uses.
    static var library: String { get }

    /// Opens the database, creates it if there is none, and brings it up to date.
    func open(for purpose: DatabasePurpose) throws(StoreError) -> OpenStore

    /// Returns the migrations that opening the database would apply, without applying them.
    func migrationPlan() throws(StoreError) -> MigrationPlan

    /// Returns the id of a process that has the database open; 0 if the id is not visible, nil if there is no such
    /// process.
    ///
    /// Call it before this process opens the database.
    func holder() -> Int32?

    /// Checks by its first bytes that a file can be a database of this kind.
    ///
    /// - Throws: for a missing or empty file, and for a file of another format.
    func requireHeader(of path: String) throws(StoreError)

    /// Returns whether a file is a database of Afterlink, by its first bytes.
    ///
    /// Call it before this process opens the database.
    func isOwn(_ path: String) -> Bool

    /// Returns counts, sizes, apps and keys, and the process that has the database open; changes nothing.
    func survey() throws(StoreError) -> DatabaseReport

    /// Verifies the database, also while a process serves it, and changes nothing.
    func verify(_ keys: [ServerKey]) throws(StoreError) -> VerificationReport

    /// Returns the keyring for a command; nil if the keys of the database are in files beside it.
    func keyring() throws(StoreError) -> (any KeyringRows)?

    /// Returns the recorded clicks and checks of an app, also while a process serves.
    func history(of app: AppID, isTest: Bool, remaking: FingerprintReconstruction) throws(StoreError)
        -> any TrafficHistory

    /// Copies the database, also while other processes use it, to a temporary file beside `path`.
    ///
    /// - Parameters:
    ///   - path: the copy's path.
    ///   - mayReplace: whether to replace a file at that path.
    ///   - isInterrupted: polled during the copy; true ends it.
    ///   - check: throws if the database must not be copied.
    /// - Returns: the copy, complete and on disk; `publish()` gives it its name.
    /// - Throws: an error; the copy is deleted then.
    func backUp(
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy

    /// Copies a backup to a temporary file beside the database.
    ///
    /// - Parameters:
    ///   - backup: the backup's path.
    ///   - suffix: the suffix of the previous database's new name.
    ///   - mayReplace: whether to rename an existing database.
    ///   - isInterrupted: polled during the copy; true ends it.
    ///   - check: throws if the backup must not be restored.
    /// - Returns: the copy, complete and on disk; `publish()` gives it its name.
    /// - Throws: an error; nothing has changed then.
    func restore(
        _ backup: String,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy

    /// Opens the database to read all of it for a move; no process can change it meanwhile.
    func moveSource() throws(StoreError) -> any MoveSource

    /// Copies the rows of another database into this one, which must be empty; or continues an interrupted copy.
    ///
    /// - Parameters:
    ///   - source: the other database.
    ///   - note: called with what is copied now.
    /// - Returns: the numbers of rows in both databases; if they differ, the move must not be finished.
    /// - Throws: `conflict` if this database has other data.
    func fill(from source: any MoveSource, note: @escaping (String) -> Void) throws(StoreError) -> MoveReport

    /// Lets servers start on this database, which has all rows and keys.
    func finishFilling() throws(StoreError)
}

extension Database {
    func keyring() throws(StoreError) -> (any KeyringRows)? { nil }

    func moveSource() throws(StoreError) -> any MoveSource {
        throw StoreError(.unsupported, "rows move from SQLite files only")
    }

    func fill(from source: any MoveSource, note: @escaping (String) -> Void) throws(StoreError) -> MoveReport
    { throw StoreError(.unsupported, "rows move to PostgreSQL databases only") }

    func finishFilling() throws(StoreError) {}
}

/// The reasons to open a database.
enum DatabasePurpose {
    /// For event loops, with background jobs.
    case serving(
        clock: WallClock,
        log: Log,
        replays: ReplaySettings? = nil,
        postbacks: PostbackSettings? = nil
    )
    /// For one command, also while a process serves.
    case command
    /// For a command that changes nothing.
    case reading
}

extension StoreConfiguration {
    /// The time that a command waits for a slow disk or a lock of another process, in milliseconds: an operator waits longer
    /// than an SDK, and would otherwise run the command again.
    private static let commandMilliseconds: UInt64 = 30_000

    /// Creates the settings of a store, for any kind of database.
    init(_ given: Configuration, for purpose: DatabasePurpose) {
        self.init(clock: .system)
        retentionSeconds = given.retention
        auditRetentionSeconds = given.auditRetention
        outboxRetentionSeconds = given.outboxRetention
        checkRetentionSeconds = given.retentionChecks
        matchRetentionSeconds = given.usedRetentionOfMatches
        installRetentionSeconds = given.retentionInstalls
        standardWindow = given.attributionWindow
        durability = given.durability
        queueLimit = given.queueLimit
        switch purpose {
        case .serving(let clock, let log, let replays, let postbacks):
            self.clock = clock
            self.replays = replays
            self.postbacks = postbacks
            learnsAtOnce = given.usesTestClock
            trustsClock = given.usesTestClock
            acceptsClock = given.acceptsClock
            self.log = StoreLog { level, text in log.event(LogLevel(level), text) }
        case .command, .reading:
            hasBackgroundWork = false
            timeLimitMilliseconds = Self.commandMilliseconds
            if case .reading = purpose { isReadOnly = true }
        }
    }
}

extension LogLevel {
    init(_ level: StoreLog.Level) {
        self =
            switch level {
            case .information: .info
            case .warning: .warning
            case .error: .error
            }
    }
}

/// An open database of any kind.
struct OpenStore: Sendable {
    /// Creates the session of the calling thread, with the port of its loop; `nil` for a thread that has no loop.
    let makeSession: @Sendable (LoopPort?) -> any LoopSession
    let health: @Sendable () -> StoreHealth
    /// The check values of the server keys, and the keys that stored rows need.
    let keys: StoredKeys
    /// Whether background jobs may trust the wall clock, which may have jumped.
    let isClockSettled: @Sendable () -> Bool
    /// Finishes pending writes within the given number of milliseconds, and closes.
    let stop: @Sendable (_ milliseconds: UInt64) -> Void
    /// Stores an event about a fact that no table contains, such as a changed domain file; waits for the database.
    let publish: @Sendable (_ type: PostbackType, _ app: AppID, _ data: String) throws(StoreError) -> Void
    /// The keyring of a database that several servers share; nil if its keys are in files beside it.
    var keyring: (any KeyringRows)?

    /// Creates the stores of the calling thread; see ``makeSession``.
    func makeStores(_ port: LoopPort?) -> Stores { Stores(makeSession(port)) }
}

extension DatabaseSummary {
    /// The text for people: `1204 clicks (37 matched), 1 app and 4 keys`.
    var text: String {
        "\(Self.count(clicks, "click")) (\(claims) matched), \(Self.count(apps, "app")) and \(Self.count(keys, "key"))"
    }

    static func count(_ number: Int64, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    func write(to json: inout JSONWriter) {
        json.member("clicks", clicks)
        json.member("claims", claims)
        json.member("apps", apps)
        json.member("keys", keys)
        json.member("newest_click_at", newestClickAt?.iso8601)
        json.member("schema_version", schemaVersion)
        json.member("bytes", byteCount)
    }
}
