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
    var counts = CountDeltas()
    var drift = DriftBatch()
    var addressDays = AddressKeyDeadlines()
    var filters: FilterUpdater
    /// Whether apps or keys were changed.
    var changesDirectory = false
    /// Of campaigns that expected conversions were noted for by their hash.
    var campaignNames: [UInt64: String] = [:]
    private var names = AdmittedNames()
    private var lastClick: Int64 = 0
    /// The newest record of a check; nil before the open transaction has asked for it.
    private var lastCheck: Int64?
    /// The second half of the identifiers of a transaction's records, which differ in their first.
    private(set) var checkWord: UInt64 = 0
    /// Records that the open transaction has stored and not counted yet.
    var storedChecks: Int64 = 0
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

    /// What the open transaction sees.
    var reader: SQLiteReader { SQLiteReader(connection: connection) }

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
        for (slot, count) in drift.takeIfDue() {
            let (scope, side) = (slot.scope, slot.group.side)
            let name = try admit(slot.group.name, side.dimension, of: scope, in: slot.period)
            counts.addDrift(count, to: side, name, of: scope, at: slot.period)
        }
        if !counts.isEmpty { try write(counts) }
        if storedChecks > 0 {
            try connection.statement(CheckSQL.addProgress).run("kept_checks", storedChecks)
        }
        try closedBefore.write(to: connection)
        try connection.commit()
        posts.commit()
        filters.commit(newest: posts.newest)
        closedBefore.commit()
        counts.removeAll()
        drift.commit()
        forgetChecks()
    }

    /// Drops what was gathered, and undoes the transaction if there still is one.
    func rollback() {
        posts.rollback()
        closedBefore.rollback()
        counts.removeAll()
        drift.rollback()
        addressDays.rollback()
        names.forgetAll()
        forgetChecks()
        changesDirectory = false
        // Where SQLite cannot undo any more, it has undone already, or the connection is given up.
        try? connection.rollback()
    }

    /// The next identifier: later than all before, so that those of one millisecond order by arrival.
    func makeClickID(at moment: Timestamp) -> ClickID {
        lastClick = RowIdentifier.next(after: lastClick, at: moment)
        return ClickID(high: UInt64(bitPattern: lastClick), low: random())
    }

    /// The first half of the next record's identifier, likewise.
    func nextCheck(at moment: Timestamp) throws(SQLiteError) -> Int64 {
        if lastCheck == nil {
            lastCheck = try connection.statement(CheckSQL.newest).first { $0.integer(0) }
            checkWord = random()
        }
        let next = RowIdentifier.next(after: lastCheck ?? 0, at: moment)
        lastCheck = next
        return next
    }

    /// Another process may write the next records.
    private func forgetChecks() {
        lastCheck = nil
        storedChecks = 0
    }

    /// Returns the name that a value is counted under in a span of time.
    func admit(_ name: String, _ dimension: Dimension, of scope: Scope, in period: Timestamp)
        throws(SQLiteError) -> String
    {
        let reader = reader
        return try names.admit(name, dimension, of: scope, in: period) { () throws(SQLiteError) in
            try reader.countedNames(of: dimension, scope, in: period)
        }
    }

    func scope(of app: AppID, isTest: Bool) throws(SQLiteError) -> Scope? {
        let reader = reader
        return try apps.scope(of: app, isTest: isTest, find: reader.number)
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
        let day = Granularity.day.start(of: moment)
        var campaign: String?
        let labels = try traits.labels { (dimension, value) throws(SQLiteError) in
            let admitted = try admit(value, dimension, of: scope, in: day)
            if dimension == .campaign { campaign = admitted }
            return admitted
        }
        counts.add(times, metric, to: labels, of: scope, at: moment)
        return campaign
    }

    func countCheck(
        _ metric: Metric,
        times: Int64 = 1,
        from platform: Platform,
        _ scope: Scope,
        at moment: Timestamp
    ) {
        counts.add(times, metric, to: platform.checkLabels, of: scope, at: moment)
    }

    func noteExpiry(_ moment: Timestamp) {
        closedBefore.lower(to: moment)
    }

    func noteClosed(before moment: Timestamp) {
        closedBefore.raise(to: moment)
    }
}
