internal import Attribution
internal import JSON
internal import Server
internal import Storage

/// What the program needs of a database of any kind; the program itself names none.
///
/// Errors of its functions say what to do.
protocol Database: Sendable {
    /// The name and version of the library that it needs.
    static var library: String { get }

    /// Opens the database, creates it if there is none, and brings it up to date.
    func open(for purpose: DatabasePurpose) throws(StoreError) -> OpenStore

    /// Returns what opening the database would change in it; changes nothing.
    func migrationPlan() throws(StoreError) -> MigrationPlan

    /// Returns a process that has the database open; 0 if its number cannot be seen, nil if there is none.
    ///
    /// To be called before this process opens it.
    func holder() -> Int32?

    /// Checks by its first bytes that a file can be a database of this kind.
    ///
    /// - Throws: for an empty file, and for one of another program.
    func requireHeader(of path: String) throws(StoreError)

    /// Examines the database without changing it.
    func survey() throws(StoreError) -> DatabaseReport

    /// Verifies the database, while a process serves or not, and changes nothing.
    func verify(_ keys: [ServerKey]) throws(StoreError) -> [VerifiedCheck]

    /// Returns the recorded clicks and checks of an app, while a process serves or not.
    func history(of app: AppID, isTest: Bool, remaking: FingerprintReconstruction) throws(StoreError)
        -> any TrafficHistory

    /// Copies the database while others use it, under a temporary name beside the copy's.
    ///
    /// - Parameters:
    ///   - path: the copy's name.
    ///   - mayReplace: whether a file of that name is replaced.
    ///   - isInterrupted: called now and then; true ends the copy.
    ///   - check: throws if the database must not be copied.
    /// - Returns: the copy, whole and on disk, without its name.
    /// - Throws: an error that says what to do; the copy is deleted then.
    func backUp(
        to path: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy

    /// Copies a backup under a temporary name beside the database's.
    ///
    /// - Parameters:
    ///   - backup: the backup's path.
    ///   - suffix: the suffix of the name that the previous database is kept under.
    ///   - mayReplace: whether an existing database is moved aside.
    ///   - isInterrupted: called now and then; true ends the copy.
    ///   - check: throws if the backup must not be restored.
    /// - Returns: the copy, whole and on disk, without its name.
    /// - Throws: an error that says what to do; nothing has changed then.
    func restore(
        _ backup: String,
        movingAside suffix: String,
        mayReplace: Bool,
        unless isInterrupted: () -> Bool,
        check: (DatabaseSummary) throws(StoreError) -> Void
    ) throws(StoreError) -> DatabaseCopy
}

/// The reasons to open a database.
enum DatabasePurpose {
    /// For event loops, with background jobs.
    case serving(clock: WallClock, log: Log)
    /// For one command, perhaps while a process serves.
    case command
    /// For a command that changes nothing.
    case reading
}

/// A database that is open, whichever kind it is.
struct OpenStore: Sendable {
    /// A view for one thread, to be made on it.
    let makeStores: @Sendable () -> Stores
    let health: @Sendable () -> StoreHealth
    /// See ``ServerKeyRecognition``; takes the checks of the keys, the present one first.
    ///
    /// This and the two below wait for the disk.
    let confirm:
        @Sendable (_ serverKeys: [KeyedHash], _ now: Timestamp) throws(StoreError) -> ServerKeyRecognition
    /// Whether background jobs may act on the wall clock, which may have leapt.
    let isClockSettled: @Sendable () -> Bool
    let keyNeeds: @Sendable () throws(StoreError) -> RequiredKeys
    /// Takes the first word of a key's check.
    let forget: @Sendable (_ serverKey: UInt64) throws(StoreError) -> Void
    /// Finishes pending writes within the given number of milliseconds, and closes.
    let stop: @Sendable (_ milliseconds: UInt64) -> Void
}

/// The result of examining a database without changing it.
struct DatabaseReport: Sendable {
    let path: String
    /// A process that has the database open; 0 where its number is not to be seen, nil where there is none.
    let holder: Int32?
    let summary: DatabaseSummary
    let directory: Directory
    let writeAheadLogBytes: Int64
    /// Nil where the disk does not say.
    let freeBytes: Int64?
    /// Robots' clicks included, to the hour.
    let clicksOfLastDay: Int64
    /// The beginning of the first day on which anything was counted.
    let firstDay: Timestamp?
}

/// A copy of a database that is whole and on disk, and has no name yet.
struct DatabaseCopy {
    let summary: DatabaseSummary
    /// Gives the copy its name.
    ///
    /// - Returns: the path that a database of that name was moved to; nil if there was none, or it was replaced.
    let publish: () throws(StoreError) -> String?
}

/// One verification step, and what it found.
struct VerifiedCheck: Sendable {
    let name: String
    let scope: String
    var findings: [(text: String, advice: String)]
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
