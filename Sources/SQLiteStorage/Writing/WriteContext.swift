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
    var totals = BatchTotals()
    var addressDays = AddressKeyDeadlines()
    var filters: FilterUpdater
    /// Whether apps or keys were changed.
    var changesDirectory = false
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
        try totals.addDueDrift(by: reader)
        if !totals.counts.isEmpty { try write(totals.counts) }
        if storedChecks > 0 {
            try connection.statement(CheckSQL.addProgress).run("kept_checks", storedChecks)
        }
        try closedBefore.write(to: connection)
        try connection.commit()
        posts.commit()
        filters.commit(newest: posts.newest)
        closedBefore.commit()
        totals.commit()
        forgetChecks()
    }

    /// Drops what was gathered, and undoes the transaction if there still is one.
    func rollback() {
        posts.rollback()
        closedBefore.rollback()
        totals.rollback()
        addressDays.rollback()
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

    func scope(of app: AppID, isTest: Bool) throws(SQLiteError) -> Scope? {
        let reader = reader
        return try apps.scope(of: app, isTest: isTest, find: reader.number)
    }

    func noteExpiry(_ moment: Timestamp) {
        closedBefore.lower(to: moment)
    }

    func noteClosed(before moment: Timestamp) {
        closedBefore.raise(to: moment)
    }
}
