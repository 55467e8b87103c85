internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Reads all stored fingerprints into a filter: at the start, and when the last one is full or no longer true.
///
/// Each slice is a snapshot of its own, so that the write-ahead log can begin anew between them.
struct FilterJob: Job {
    let name = JobName.filter
    /// Half of the time is left to requests while a filter is built.
    let share = 0.5

    private let shared: SharedState
    private let opening: DatabaseOpening
    private var building: Building?
    /// When the next one may be begun, also when it is asked for.
    private var mayBeginAt: UInt64 = 0

    /// A filter that is being built.
    private struct Building {
        let startedAt: UInt64
        let connection: SQLiteConnection
        /// Nil while the rows are counted.
        var filter: FingerprintFilter?
        var rowCount = 0
        /// The last row that was counted or read.
        var last = Row.first
    }

    /// A row's place in the order of the index.
    private struct Row {
        let scope, hash, state, since, click: Int64

        /// Before all others.
        static let first = Row(scope: .min, hash: .min, state: .min, since: .min, click: .min)

        init(scope: Int64, hash: Int64, state: Int64, since: Int64, click: Int64) {
            (self.scope, self.hash, self.state, self.since, self.click) = (scope, hash, state, since, click)
        }

        init(_ row: Statement) {
            self.init(
                scope: row.integer(0),
                hash: row.integer(1),
                state: row.integer(2),
                since: row.integer(3),
                click: row.integer(4)
            )
        }
    }

    /// Room for as many fingerprints again as there are, and for the first ones of a new database.
    private static let minimumCapacity = 65_536
    private static let sliceLength = 10_000
    /// How long after one was built the next may be, in nanoseconds: a second, and twenty times as long as it took.
    private static let minimumPause: UInt64 = 1_000_000_000
    private static let pauseFactor: UInt64 = 20

    init(_ shared: SharedState, _ opening: DatabaseOpening) {
        self.shared = shared
        self.opening = opening
    }

    mutating func slice(at now: UInt64) throws(StoreError) -> Due {
        if building == nil {
            // Checks ask the database until there is one.
            guard now >= mayBeginAt, shared.filters.withLock({ $0.needsFilter }) else {
                return .after(Self.minimumPause)
            }
            try begin(at: now)
        }
        guard try goOn() else { return .more }
        let took = now - (building?.startedAt ?? now)
        building = nil
        mayBeginAt = now + max(Self.minimumPause, Self.pauseFactor * took)
        return .after(Self.minimumPause)
    }

    /// Builds a filter in one go, whether it is due or not; for tests.
    mutating func build() throws(StoreError) {
        try begin(at: 0)
        while try !goOn() {}
        building = nil
    }

    private mutating func begin(at now: UInt64) throws(StoreError) {
        let connection = try opening.translated { () throws(SQLiteError) in
            let connection = try opening.openReader()
            // Each page is read once.
            try connection.execute("PRAGMA cache_size = -256")
            return connection
        }
        building = Building(startedAt: now, connection: connection)
    }

    /// Counts or reads some rows; true when all are read, and checks ask the filter.
    private mutating func goOn() throws(StoreError) -> Bool {
        guard var current = building else { return true }
        do throws(StoreError) {
            defer { building = current }
            guard let filter = current.filter else {
                try count(&current)
                return false
            }
            guard try read(into: filter, &current) else { return false }
            shared.filters.withLock { $0.publish(filter) }
            return true
        } catch {
            building = nil
            shared.filters.withLock { $0.next = nil }
            throw error
        }
    }

    /// Counts on; after the last row, lets new clicks be added to a filter with room for twice as many.
    private func count(_ building: inout Building) throws(StoreError) {
        let last = building.last
        let next = try opening.translated { () throws(SQLiteError) in
            try building.connection.statement(FilterSQL.rowAfter)
                .first(last.scope, last.hash, last.state, last.since, last.click, Self.sliceLength - 1) {
                    Row($0)
                }
        }
        building.rowCount += Self.sliceLength
        if let next {
            building.last = next
            return
        }
        let filter = FingerprintFilter(capacity: max(Self.minimumCapacity, 2 * building.rowCount))
        let newest = try opening.translated { () throws(SQLiteError) in
            try building.connection.integer(FilterSQL.newestClick)
        }
        shared.filters.withLock { $0.adopt(filter, newest: newest) }
        // A transaction that began before does not know of the filter: what it records is read with what is stored.
        try shared.queue.perform(.barrier)
        building.filter = filter
        building.last = .first
    }

    /// Reads on; true after the last row.
    ///
    /// What is closed meanwhile moves on in the order of the rows, and is met there.
    private func read(into filter: FingerprintFilter, _ building: inout Building) throws(StoreError) -> Bool {
        var (count, last) = (0, building.last)
        try opening.translated { () throws(SQLiteError) in
            try building.connection.statement(FilterSQL.stored)
                .forEach(last.scope, last.hash, last.state, last.since, last.click, Self.sliceLength) { row in
                    count += 1
                    last = Row(row)
                    filter.add(UInt64(bitPattern: last.hash))
                }
        }
        building.last = last
        return count < Self.sliceLength
    }
}

extension FilterSQL {
    static let stored: SQL = """
        SELECT scope, hash, state, since, click FROM click_index
        WHERE (scope, hash, state, since, click) > (?1, ?2, ?3, ?4, ?5)
        ORDER BY scope, hash, state, since, click LIMIT ?6
        """
    /// The last of so many rows, and one, after a row.
    static let rowAfter: SQL = """
        SELECT scope, hash, state, since, click FROM click_index
        WHERE (scope, hash, state, since, click) > (?1, ?2, ?3, ?4, ?5)
        ORDER BY scope, hash, state, since, click LIMIT 1 OFFSET ?6
        """
}
