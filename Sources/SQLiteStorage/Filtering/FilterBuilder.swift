internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Reads all stored fingerprints into a filter, on a thread of its own: at the start, and when the last one is full
/// or no longer true.
struct FilterBuilder {
    private let shared: SharedState
    private let opening: DatabaseOpening

    /// Room for as many fingerprints again as there are, and for the first ones of a new database.
    private static let leastCapacity = 65_536
    private static let sliceLength: Int64 = 10_000
    /// How long after one was built the next may be, in nanoseconds: a second, and twenty times as long as it took.
    private static let leastPause: UInt64 = 1_000_000_000
    private static let pauseFactor: UInt64 = 20

    init(shared: SharedState, opening: DatabaseOpening) {
        self.shared = shared
        self.opening = opening
    }

    /// Builds what is due until the store stops.
    func run() {
        defer { shared.endBackgroundThread() }
        while true {
            let isDue = shared.background.wait(until: nil) { state -> Bool? in
                if state.isStopping { return false }
                guard state.wantsFilter else { return nil }
                state.wantsFilter = false
                return true
            }
            guard isDue == true else { return }
            let start = MonotonicTime.now().nanoseconds
            do throws(StoreError) {
                try build()
                shared.failures.noteSuccess(of: .filter, at: MonotonicTime.now().nanoseconds)
            } catch {
                // Checks ask the database until it works.
                if error.code != .stopping {
                    shared.failures.note(error, of: .filter, at: MonotonicTime.now().nanoseconds)
                }
                shared.requestFilter()
            }
            let pause = max(Self.leastPause, Self.pauseFactor * (MonotonicTime.now().nanoseconds - start))
            _ = shared.background.wait(until: MonotonicTime.now().nanoseconds + pause) {
                $0.isStopping ? true : nil
            }
        }
    }

    /// Builds a filter and lets checks ask it.
    func build() throws(StoreError) {
        let connection = try opening.translated { () throws(SQLiteError) in
            let connection = try opening.openReader()
            // Each page is read once.
            try connection.execute("PRAGMA cache_size = -256")
            return connection
        }
        let filter = FingerprintFilter(capacity: try capacity(on: connection))
        do throws(StoreError) {
            let newest = try opening.translated { () throws(SQLiteError) in
                try connection.integer(FilterSQL.newestClick)
            }
            shared.filters.withLock { $0.adopt(filter, newest: newest) }
            // A transaction that began before does not know of the filter: what it records is read with what is stored.
            try shared.queue.perform(.barrier)
            // What is closed meanwhile moves on in this order, and is not passed over.
            try read(into: filter, from: connection)
            shared.filters.withLock { $0.publish(filter) }
        } catch {
            shared.filters.withLock { if $0.next === filter { $0.next = nil } }
            throw error
        }
    }

    private func capacity(on connection: SQLiteConnection) throws(StoreError) -> Int {
        try opening.translated { () throws(SQLiteError) in
            let rows = try connection.integer("SELECT count(*) FROM click_index")
            return max(Self.leastCapacity, 2 * Int(clamping: rows))
        }
    }

    /// Reads the table in slices of a snapshot each, so that the write-ahead log can begin anew between them, and leaves
    /// half of the time to requests.
    private func read(into filter: FingerprintFilter, from connection: SQLiteConnection) throws(StoreError) {
        var last: (Int64, Int64, Int64, Int64, Int64) = (.min, .min, .min, .min, .min)
        var isMore = true
        while isMore {
            guard !shared.isStopping else { throw StoreError(.stopping, "the store is stopping") }
            let start = MonotonicTime.now().nanoseconds
            isMore = try opening.translated { () throws(SQLiteError) in
                var count: Int64 = 0
                let statement = try connection.statement(FilterSQL.stored)
                try statement.forEach(last.0, last.1, last.2, last.3, last.4, Self.sliceLength) { row in
                    count += 1
                    last = (
                        row.integer(0), row.integer(1), row.integer(2), row.integer(3), row.integer(4)
                    )
                    filter.add(UInt64(bitPattern: row.integer(1)))
                }
                return count == Self.sliceLength
            }
            let end = MonotonicTime.now().nanoseconds
            _ = shared.background.wait(until: end + (end - start)) { $0.isStopping ? true : nil }
        }
    }
}

extension FilterSQL {
    static let stored: SQL = """
        SELECT scope, hash, state, since, click FROM click_index
        WHERE (scope, hash, state, since, click) > (?1, ?2, ?3, ?4, ?5)
        ORDER BY scope, hash, state, since, click LIMIT ?6
        """
}
