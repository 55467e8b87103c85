internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Closes and deletes clicks in bounded steps.
extension WriteContext {
    /// Ends with the clicks of the step's limit, or with its time.
    func runRetention(_ step: RetentionStep) throws(SQLiteError) -> RetentionSlice {
        if step.notesSettledClock { try noteSettled(at: step.now) }
        let deadline = MonotonicTime.now().nanoseconds + step.nanoseconds
        let (closingBefore, deletingBefore, limit) = (step.closingBefore, step.deletingBefore, step.limit)
        var slice = RetentionSlice()
        let due = try expired(from: Timestamp(milliseconds: .min), before: deletingBefore, limit: limit)
        for click in due where slice.deleted == 0 || MonotonicTime.now().nanoseconds < deadline {
            try delete(click)
            slice.deleted += 1
        }
        if let last = due.prefix(Int(slice.deleted)).last?.expiresAt {
            try connection.statement(RetentionSQL.saveDeletedUpTo).run(last.milliseconds)
        }
        if let oldest = due.first, due.count == limit || slice.deleted < due.count {
            slice.lag = deletingBefore.milliseconds(since: oldest.expiresAt)
            slice.isDeleting = true
            slice.isMore = true
            return slice
        }
        slice.closed = try closeClicks(expiredBefore: closingBefore, limit: limit, until: deadline)
        slice.isMore = closedBefore.moment < closingBefore
        slice.lag = slice.isMore ? closingBefore.milliseconds(since: closedBefore.moment) : 0
        for scope in try reader.numberedApps().flatMap(\.scopes)
        where try purgeLiveClicks(of: scope, at: step.now, atMost: limit) { slice.isMore = true }
        if try deleteChecks(before: deletingBefore, limit: 4 * limit) { slice.isMore = true }
        return slice
    }

    private func expired(from first: Timestamp, before end: Timestamp, limit: Int) throws(SQLiteError)
        -> [ClickRecord]
    {
        try connection.statement(RetentionSQL.due)
            .all(ClickRecord.self, first.milliseconds, end.milliseconds, limit)
    }

    private func delete(_ click: ClickRecord) throws(SQLiteError) {
        try forget(click, isOpen: click.expiresAt >= closedBefore.moment)
        // Takes the claim with it.
        try connection.statement(RetentionSQL.delete).run(click.number)
    }

    private func closeClicks(expiredBefore moment: Timestamp, limit: Int, until deadline: UInt64)
        throws(SQLiteError) -> Int64
    {
        let start = closedBefore.moment
        guard start < moment else { return 0 }
        let due = try expired(from: start, before: moment, limit: limit)
        var (closed, done) = (0 as Int64, 0)
        for click in due where done == 0 || MonotonicTime.now().nanoseconds < deadline {
            if try end(click) { closed += 1 }
            done += 1
        }
        guard done == limit || done < due.count, let last = due.prefix(done).last?.expiresAt else {
            noteClosed(before: moment)
            return closed
        }
        if last > start {
            // Those of the last one's millisecond may not all be closed yet.
            noteClosed(before: last)
        } else {
            // More clicks than a slice holds expire in one millisecond: all of them at once, or it would not end.
            let next = last.advanced(byMilliseconds: 1)
            for click in try expired(from: last, before: next, limit: .max)
            where try end(click) { closed += 1 }
            noteClosed(before: next)
        }
        return closed
    }

    /// Closes a click whose window has ended; false when it was closed before.
    private func end(_ click: ClickRecord) throws(SQLiteError) -> Bool {
        try removeAddress(click)
        return try close(click, as: .expired, at: click.expiresAt)
    }
}

enum RetentionSQL {
    static let due: SQL = """
        SELECT \(ClickRecord.columns) FROM clicks
        WHERE expires_at >= ?1 AND expires_at < ?2 ORDER BY expires_at LIMIT ?3
        """
    static let delete: SQL = "DELETE FROM clicks WHERE id = ?1"
    /// When the last click expired of those that were deleted: of what came later, all is held.
    static let deletedUpTo: SQL = "SELECT value FROM progress WHERE name = 'deleted_up_to'"
    static let saveDeletedUpTo: SQL = """
        INSERT INTO progress VALUES ('deleted_up_to', ?1)
        ON CONFLICT DO UPDATE SET value = max(value, excluded.value)
        """
}

/// How far expired clicks have been closed: every click that expires before this moment is closed.
///
/// A click that expires earlier still, which a clock that leapt ahead and back again makes, moves it back.
struct ClosingWatermark {
    private(set) var moment = Timestamp(milliseconds: .min)
    private var committed = Timestamp(milliseconds: .min)

    mutating func lower(to other: Timestamp) {
        moment = min(moment, other)
    }

    mutating func raise(to other: Timestamp) {
        moment = max(moment, other)
    }

    mutating func load(from connection: SQLiteConnection) throws(SQLiteError) {
        let value = try connection.statement(Self.read).first { $0.integer(0) }
        committed = Timestamp(milliseconds: value ?? .min)
        moment = committed
    }

    func write(to connection: SQLiteConnection) throws(SQLiteError) {
        guard moment != committed else { return }
        try connection.statement(Self.save).run(moment.milliseconds)
    }

    mutating func commit() {
        committed = moment
    }

    mutating func rollback() {
        moment = committed
    }

    static let read: SQL = "SELECT value FROM progress WHERE name = 'closed_before'"
    static let save: SQL = """
        INSERT INTO progress VALUES ('closed_before', ?1) ON CONFLICT DO UPDATE SET value = excluded.value
        """
}
