internal import Attribution
internal import SQLite
internal import Storage

/// What the writer works with: its connection, and what the open transaction has gathered.
///
/// Writer's thread only.
///
/// Effects in memory come after the last statement of a request that can fail, so that a request that is undone
/// leaves none behind; a transaction that is undone drops them all.
final class WriteContext {
    let connection: SQLiteConnection
    let ledger: AnswerLedger
    let learnt: LearningState
    private let random: @Sendable () -> UInt64

    var apps = AppNumbers()
    var posts = RecentPosts()
    var counters = CounterBatch()
    var drift = DriftBatch()
    var addressDays = AddressKeyDeadlines()
    var filters: FilterUpdater
    /// Whether apps or keys were changed.
    var changesDirectory = false
    /// Of campaigns that expected conversions were noted for by their hash.
    var campaignNames: [UInt64: String] = [:]
    private var register = AdmittedNames()
    private var lastClick: Int64 = 0
    private(set) var closedBefore = ClosingWatermark()

    init(connection: SQLiteConnection, shared: SharedState) throws(SQLiteError) {
        self.connection = connection
        ledger = shared.ledger
        learnt = shared.learnt
        random = shared.configuration.random
        filters = FilterUpdater(shared)
        try posts.load(from: connection, at: shared.configuration.clock.now())
        try closedBefore.load(from: connection)
    }

    /// Begins the transaction that the next requests share.
    func begin() throws(SQLiteError) {
        try connection.begin(.immediate)
        do throws(SQLiteError) {
            // Asked anew each time: another process may have written.
            let newest = try connection.integer(FilterSQL.newestClick)
            lastClick = max(lastClick, newest)
            try posts.catchUp(to: newest, from: connection)
            try filters.catchUp(to: newest, on: connection)
        } catch {
            try? connection.rollback()
            throw error
        }
    }

    /// Writes what was gathered, and commits.
    func commit() throws(SQLiteError) {
        if !counters.isEmpty { try counters.write(to: connection) }
        try drift.writeIfDue(to: connection)
        try closedBefore.write(to: connection)
        try connection.commit()
        posts.commit()
        filters.commit(newest: posts.newest)
        closedBefore.commit()
        counters.removeAll()
        drift.commit()
    }

    /// Drops what was gathered, and undoes the transaction if there still is one.
    func rollback() {
        posts.rollback()
        closedBefore.rollback()
        counters.removeAll()
        drift.rollback()
        addressDays.rollback()
        register.forgetAll()
        changesDirectory = false
        // Where SQLite cannot undo any more, it has undone already, or the connection is given up.
        try? connection.rollback()
    }

    /// The next identifier: later than all before, so that those of one millisecond order by arrival.
    func makeClickID(at moment: Timestamp) -> ClickID {
        lastClick = RowIdentifier.next(after: lastClick, at: moment)
        return ClickID(high: UInt64(bitPattern: lastClick), low: random())
    }

    func makeRandomWord() -> UInt64 { random() }

    /// The name that a campaign is counted under on a day.
    func admitted(_ campaign: String, of scope: Scope, at moment: Timestamp) throws(SQLiteError) -> String {
        let day = Granularity.day.start(of: moment)
        return try register.admit(campaign, .campaign, of: scope, on: day, connection: connection)
    }

    func scope(of app: AppID, isTest: Bool) throws(SQLiteError) -> Scope? {
        try apps.scope(of: app, isTest: isTest, on: connection)
    }

    /// Counts an event of a click, under the names that the day admits.
    ///
    /// - Returns: the name that the click's campaign is counted under.
    @discardableResult
    func count(
        _ metric: Metric,
        times: Int64 = 1,
        of traits: CountedTraits,
        _ scope: Scope,
        at moment: Timestamp
    )
        throws(SQLiteError) -> String?
    {
        try counters.add(times, metric, of: traits, scope, at: moment, admittedBy: &register, on: connection)
    }

    func countCheck(
        _ metric: Metric,
        times: Int64 = 1,
        from platform: Platform,
        _ scope: Scope,
        in hour: Timestamp
    ) {
        counters.add(times, metric, to: platform.checkLabels, of: scope, in: hour)
    }

    func noteExpiry(_ moment: Timestamp) {
        closedBefore.lower(to: moment)
    }

    func noteClosed(before moment: Timestamp) {
        closedBefore.raise(to: moment)
    }
}
