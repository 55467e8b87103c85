internal import Attribution
internal import SQLite

/// What retention has done.
public struct RetentionProgress: Equatable, Sendable {
    /// Clicks whose window has ended, taken out of what checks look into.
    public var closed: Int64 = 0
    /// Clicks deleted with their fingerprints and claims.
    ///
    /// Their counts stay.
    public var deleted: Int64 = 0

    public init(closed: Int64 = 0, deleted: Int64 = 0) {
        self.closed = closed
        self.deleted = deleted
    }
}

/// Closes clicks that expired and deletes those whose time is over, in slices that hold the writer for a few
/// milliseconds each.
struct Retention: Sendable {
    let shared: SharedState

    /// Clicks of one slice.
    static let sliceLength = 200
    /// How long after its window a click is closed: so much may a clock be set back without a loss.
    ///
    /// Checks judge by the clock itself, not by this.
    static let closingDelay: Int64 = 60_000

    /// Works for about as long, a third of the time.
    func runSlices(for nanoseconds: UInt64) throws(StoreError) {
        let end = MonotonicClock.now() + nanoseconds
        var isMore = true
        while isMore, MonotonicClock.now() < end, !shared.isStopping {
            let start = MonotonicClock.now()
            isMore = try runSlice().isMore
            let pause = 2 * (MonotonicClock.now() - start)
            // Stops waiting at once when the store stops.
            _ = shared.background.wait(until: start + pause) { $0.isStopping ? true : nil }
        }
    }

    func runToEnd() throws(StoreError) -> RetentionProgress {
        var progress = RetentionProgress()
        var isMore = true
        while isMore {
            let slice = try runSlice()
            progress.closed += slice.closed
            progress.deleted += slice.deleted
            isMore = slice.isMore
        }
        return progress
    }

    private func runSlice() throws(StoreError) -> RetentionSlice {
        let now = shared.configuration.clock.now()
        let keptMilliseconds = shared.configuration.retentionSeconds * 1000
        let slice = try shared.performAndWait { context throws(SQLiteError) in
            .success(
                try context.runRetentionSlice(
                    closingBefore: now.advanced(byMilliseconds: -Self.closingDelay),
                    deletingBefore: now.advanced(byMilliseconds: -keptMilliseconds),
                    now: now,
                    limit: Self.sliceLength
                )
            )
        }
        shared.noteRetentionLag(slice.lagSeconds)
        return slice
    }
}

struct RetentionSlice: Sendable {
    var closed: Int64 = 0
    var deleted: Int64 = 0
    var isMore = false
    var lagSeconds: Int64 = 0
}

extension WriteContext {
    func runRetentionSlice(
        closingBefore: Timestamp,
        deletingBefore: Timestamp,
        now: Timestamp,
        limit: Int
    ) throws(SQLiteError) -> RetentionSlice {
        var slice = RetentionSlice()
        let deleted = try deleteClicks(expiredBefore: deletingBefore, limit: limit)
        slice.deleted = Int64(deleted.count)
        if let oldest = deleted.first, deleted.count == limit {
            slice.lagSeconds = deletingBefore.milliseconds(since: oldest) / 1000
            slice.isMore = true
            return slice
        }
        slice.closed = try closeClicks(expiredBefore: closingBefore, limit: limit)
        slice.isMore = closedBefore.moment < closingBefore
        for (_, app) in try allApps() {
            for isTest in [false, true] {
                let scope = Scope(app: app, isTest: isTest)
                if try LiveClicks.purge(scope, at: now, atMost: limit, on: connection) { slice.isMore = true }
            }
        }
        return slice
    }

    /// - Returns: when the deleted clicks expired.
    private func deleteClicks(expiredBefore moment: Timestamp, limit: Int) throws(SQLiteError) -> [Timestamp]
    {
        let due = try connection.statement(RetentionSQL.due).all(Int64.min, moment.milliseconds, limit) {
            row in
            (id: row.integer(0), expiresAt: Timestamp(milliseconds: row.integer(1)))
        }
        for click in due { try connection.statement(RetentionSQL.delete).run(click.id) }
        return due.map(\.expiresAt)
    }

    private func closeClicks(expiredBefore moment: Timestamp, limit: Int) throws(SQLiteError) -> Int64 {
        let start = closedBefore.moment
        guard start < moment else { return 0 }
        let due = try connection.statement(RetentionSQL.due).all(
            start.milliseconds,
            moment.milliseconds,
            limit
        ) { row in
            (id: row.integer(0), expiresAt: Timestamp(milliseconds: row.integer(1)))
        }
        var closed: Int64 = 0
        for click in due {
            try connection.statement(RetentionSQL.close).run(click.id)
            if connection.changeCount > 0 { closed += 1 }
        }
        guard let last = due.last?.expiresAt, due.count == limit else {
            noteClosed(before: moment)
            return closed
        }
        if last > start {
            // Those of the last one's millisecond may not all be closed yet.
            noteClosed(before: last)
        } else {
            // More clicks than a slice holds expire in one millisecond: all of them at once, or it would not end.
            try connection.statement(RetentionSQL.closeAll).run(last.milliseconds)
            closed += connection.changeCount
            noteClosed(before: last.advanced(byMilliseconds: 1))
        }
        return closed
    }

    private func allApps() throws(SQLiteError) -> [(AppID, Int64)] {
        try connection.statement(RetentionSQL.apps).all { row in
            (
                AppID(high: UInt64(bitPattern: row.integer(0)), low: UInt64(bitPattern: row.integer(1))),
                row.integer(2)
            )
        }
    }
}

enum RetentionSQL {
    static let due: StaticString = """
        SELECT id, expires_at FROM clicks WHERE expires_at >= ?1 AND expires_at < ?2 ORDER BY expires_at LIMIT ?3
        """
    static let delete: StaticString = "DELETE FROM clicks WHERE id = ?1"
    static let close: StaticString = """
        UPDATE click_fingerprints SET closed_as = 'expired' WHERE click = ?1 AND closed_as IS NULL
        """
    static let closeAll: StaticString = """
        UPDATE click_fingerprints SET closed_as = 'expired'
        WHERE closed_as IS NULL AND click IN (SELECT id FROM clicks WHERE expires_at = ?1)
        """
    static let apps: StaticString = "SELECT id_high, id_low, number FROM apps"
}
