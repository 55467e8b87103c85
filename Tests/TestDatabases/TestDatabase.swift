package import Attribution
package import Storage
package import Support

/// The place of a test's database, whose rows a test counts and changes as another process would.
///
/// The database may be open, in one or more stores, or closed. It is deleted with this object.
package protocol TestPlace: AnyObject, Sendable {
    var backend: Backend { get }
    /// Whether the database is a copy of a template with all tables, and no store has opened it yet.
    var isFreshCopy: Bool { get }

    /// Opens the database, and creates it if it does not exist.
    func open(_ configuration: StoreConfiguration) throws(StoreError) -> any TestDatabase

    func count(_ what: TestCount) throws -> Int64
    func change(_ change: TestChange) throws
    /// Writes a record into the table with this name, and reads the record again.
    func roundTrip<Kept: Record>(_ record: Kept, in table: StaticString) throws -> Kept?

    /// Searches all that is stored, free pages and logs included, for texts and for the words of keyed hashes.
    ///
    /// A database on a server is searched by queries, after its dead rows were removed (`VACUUM`).
    func traces(of texts: [String], _ words: [UInt64]) throws -> (found: [String], missing: [String])
    /// Compares all rows with each other as `afterlink verify` does.
    func verify(at now: Timestamp) throws(StoreError) -> VerificationReport
    /// Opens the clicks and checks of an app's live traffic for a backtest.
    func history(of app: AppID, _ configuration: StoreConfiguration, keys: [ServerKey]) throws(StoreError)
        -> any TrafficHistory
}

extension TestPlace {
    package var isFreshCopy: Bool { false }
}

/// An open database, with the members that tests of every kind of database need.
package protocol TestDatabase: Sendable {
    associatedtype Reader: ReportReader

    /// Whether opening created the database.
    var isNew: Bool { get }
    var health: StoreHealth { get }
    var keys: StoredKeys { get }
    /// Creates a session for a loop; only that loop's thread may call this.
    func openSession(on loop: LoopThread) -> any LoopSession
    func stop(within milliseconds: UInt64)

    /// Runs `body` on the writing thread within a transaction.
    func queueWork(_ body: @escaping @Sendable () -> Void)
    /// Refuses all waiting writes and checks, as if their deadlines had passed.
    func expireWaiting()

    /// Reads what other processes changed, and adds the counts that transactions have left to the tables of
    /// counts.
    ///
    /// Jobs do this within a second.
    func catchUp() throws(StoreError)
    /// Creates the context of jobs that run on the calling thread.
    func makeJobContext() -> JobContext<Reader>
    /// Closes and deletes all clicks and checks that are due, and compacts counts.
    ///
    /// - Returns: the number of clicks that were closed and deleted.
    @discardableResult
    func runRetention() throws(StoreError) -> RetentionProgress
}

extension TestDatabase {
    package func catchUp() {}

    /// Runs `body` with a new session on a new event loop.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable (any LoopSession) async throws -> Result
    ) async throws -> Result {
        let loop = LoopThread()
        defer { loop.stop() }
        return try await Task(executorPreference: loop) {
            let session = openSession(on: loop)
            defer { session.endTurn() }
            return try await body(session)
        }.value
    }
}

/// A number that a test reads from the stored rows.
///
/// The raw value is SQLite's query. A database with other tables or columns has another query for the case.
package enum TestCount: String {
    /// Days whose address key is needed.
    case addressDays = "SELECT count(*) FROM address_days"
    case clicksWithVisitor = "SELECT count(*) FROM clicks WHERE visitor IS NOT NULL"
    case visitors = "SELECT count(DISTINCT visitor) FROM click_index"
    case addresses = "SELECT count(*) FROM click_addresses"
    /// Entries of the index by which checks find clicks.
    case entries = "SELECT count(*) FROM click_index"
    case openEntries = "SELECT count(*) FROM click_index WHERE state = 0"
    case openEntriesNearAddress1 = "SELECT count(*) FROM click_index WHERE state = 0 AND near_address = 1"
    case entriesWithSignals = "SELECT count(*) FROM click_index WHERE signal_marks IS NOT NULL"
    /// The signals of the only entry with form D; 68 is the ASCII code of `D`.
    case signalsOfFormD = "SELECT signal_marks FROM click_index WHERE platform_form = 256 + 68"

    case claims = "SELECT count(*) FROM claims"
    case claimsWithCheck =
        "SELECT count(*) FROM claims JOIN checks USING (click) WHERE claimed_at = checked_at"
    case checks = "SELECT count(*) FROM checks"
    case matches = "SELECT count(*) FROM checks WHERE outcome = 'match'"
    case checksWithoutWeight = "SELECT count(*) FROM checks WHERE weight IS NULL"
    /// The number of checks that the records represent.
    case sumOfWeights = "SELECT sum(coalesce(weight, 1)) FROM checks"
    case checksWithOneFingerprint = "SELECT count(*) FROM checks WHERE other_fingerprints IS NULL"
    case checksWithoutSignals = "SELECT count(*) FROM checks WHERE signal_marks IS NULL"
    case checksWithSignals = "SELECT count(*) FROM checks WHERE signal_marks IS NOT NULL"
    /// The stored number of the records of checks.
    case keptChecks = "SELECT value FROM progress WHERE name = 'kept_checks'"
    case miscountedChecks =
        "SELECT value - (SELECT count(*) FROM checks) FROM progress WHERE name = 'kept_checks'"

    case learntCounters = "SELECT count(*) FROM learnt_counters"
    case smallestSystemCounter = "SELECT min(value) FROM learnt_counters WHERE family = 7"
    case modelsOfScope98 = "SELECT count(*) FROM learning WHERE scope = 98"
    case modelStart = "SELECT began_at FROM learning"
    case linkCounts = "SELECT count(*) FROM link_counts"
    case testClicksOfLinks = "SELECT sum(tests) FROM link_counts WHERE variant = ''"
    case tagsOfFirstLink = "SELECT count(*) FROM link_fields WHERE link = 1 AND field = 'tags'"
}

/// A change of stored rows, or of what the database refuses, that no store makes.
package enum TestChange {
    /// Makes every later transaction fail in which the caller with this hash claims a click.
    case failClaims(caller: KeyedHash)
    /// Makes every later transaction fail that records a match, until ``failNothing``.
    case failMatches
    /// Makes every later transaction fail that deletes a record of a check, until ``failNothing``.
    case failDeletions
    case failNothing
    /// Makes links unreadable.
    case hideLinks

    case deleteMatches
    /// Removes the index entries of robots' clicks.
    case deleteRobots
    /// Removes the values that records of older versions lack, and three matches.
    case age
    /// Copies the only address row `times` times, 400 ms apart.
    ///
    /// Each 512th copy has the same exact address; the others have another one.
    case copyAddress(times: Int64)
    /// Copies the index entry of the newest click, as clicks of other visitors from a minute before and after
    /// it.
    case copyNewestEntry(times: Int64)
    /// Adds links `slug1`, `slug2`, … to the first app.
    case addLinks(Int64)
    /// Adds a model whose landmark is 500 days ahead, to scope 98, and 6,000 counters, of which half have faded, to scope 99.
    case addModels(at: Timestamp)
    /// Moves the starts of all models forward by a day.
    case delayModels
    /// Adds the counts of a group's match rate to the first app's live traffic, one for each day, the newest first.
    case addMatchRates(group: String, DriftSide, [DriftCount], end: Timestamp)
}

extension TestChange {
    /// Returns the statement of ``addMatchRates(group:_:_:end:)``, which is the same for all databases.
    static func insert(of group: String, _ side: DriftSide, _ days: [DriftCount], end: Timestamp) -> String {
        let rows = days.enumerated().flatMap { age, day -> [String] in
            let period = end.milliseconds - Int64(age) * 86_400_000 - DriftHistory.periodMilliseconds
            let span = "\(side.dimension.rawValue), \(Granularity.quarter.rawValue), \(period)"
            return [("trials", day.trials), ("matches", day.matches)].map { metric, count in
                "(2, '', \(span), '\(group)', '\(metric)', \(count))"
            }
        }
        return "INSERT INTO counts VALUES \(rows.joined(separator: ", "))"
    }
}
