internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

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
    private var pace = RetentionPace()

    init(shared: SharedState) {
        self.shared = shared
    }

    /// Clicks of one slice, at most.
    static let sliceLength = 200
    /// When a slice that is not done ends all the same: whoever waits for the writer waits for it too.
    static let sliceNanoseconds: UInt64 = 2_000_000
    /// How long after its window a click is closed: so much may a clock be set back without a loss.
    ///
    /// Checks judge by the clock itself, not by this.
    static let closingDelay: Int64 = 60_000

    /// Works for about as long, with pauses, each until a moment of the monotonic clock; none is made once one is
    /// cut short, because the store stops.
    mutating func runSlices(for nanoseconds: UInt64, pausing: (UInt64) -> Bool) throws(StoreError) {
        let end = MonotonicTime.now().nanoseconds + nanoseconds
        var slice = RetentionSlice()
        repeat {
            let start = MonotonicTime.now().nanoseconds
            slice = try runSlice()
            guard slice.isMore else { break }
            let worked = MonotonicTime.now().nanoseconds
            guard pausing(worked + pace.pause(after: worked - start)) else { break }
        } while MonotonicTime.now().nanoseconds < end
        pace.noteLag(slice.lag)
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
        guard let now = shared.settledNow() else { return RetentionSlice() }
        let keptMilliseconds = shared.configuration.retentionSeconds * 1000
        let step = RetentionStep(
            closingBefore: now.advanced(byMilliseconds: -Self.closingDelay),
            deletingBefore: now.advanced(byMilliseconds: -keptMilliseconds),
            now: now,
            limit: Self.sliceLength,
            nanoseconds: Self.sliceNanoseconds,
            notesSettledClock: !shared.configuration.trustsClock
        )
        guard case .retention(let slice) = try shared.queue.perform(.job(.retention(step))) else {
            throw .mismatch
        }
        shared.health.setRetentionLag(slice.isDeleting ? slice.lag / 1000 : 0)
        return slice
    }
}

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
        let scopes = try allScopes()
        for scope in scopes
        where try purgeLiveClicks(of: scope, at: step.now, atMost: limit) { slice.isMore = true }
        if try deleteChecks(before: deletingBefore, limit: 4 * limit) { slice.isMore = true }
        if !slice.isMore {
            slice.isMore = try thinCounters(of: scopes, at: step.now, until: deadline)
        }
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

    private func allScopes() throws(SQLiteError) -> [Scope] {
        try connection.statement(RetentionSQL.apps).all { $0.integer(0) }
            .flatMap { [Scope(app: $0, isTest: false), Scope(app: $0, isTest: true)] }
    }
}

enum RetentionSQL {
    static let due: SQL = """
        SELECT \(ClickRecord.columns) FROM clicks
        WHERE expires_at >= ?1 AND expires_at < ?2 ORDER BY expires_at LIMIT ?3
        """
    static let delete: SQL = "DELETE FROM clicks WHERE id = ?1"
    static let apps: SQL = "SELECT number FROM apps"
    /// When the last click expired of those that were deleted: of what came later, all is held.
    static let deletedUpTo: SQL = "SELECT value FROM progress WHERE name = 'deleted_up_to'"
    static let saveDeletedUpTo: SQL = """
        INSERT INTO progress VALUES ('deleted_up_to', ?1)
        ON CONFLICT DO UPDATE SET value = max(value, excluded.value)
        """
}
