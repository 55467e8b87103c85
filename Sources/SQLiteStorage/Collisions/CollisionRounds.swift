internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Counts collisions again and again beside requests, in slices, and keeps what was found for the statistics.
struct CollisionRounds {
    private let shared: SharedState
    private let opening: DatabaseOpening
    private var census: CollisionCensus?
    /// Commits when the last round ended; nil before the first.
    private var countedCommits: UInt64?
    /// When the next slice is due, on the monotonic clock.
    private(set) var dueAt: UInt64
    /// When the lease was taken or renewed, in nanoseconds; nil without one.
    private var leasedAt: UInt64?

    /// How long after a slice the next may be: so many times as long as it took.
    ///
    /// A round takes a hundredth of a core.
    private static let pauseFactor: UInt64 = 99
    /// From one round's end to the next one's beginning, in nanoseconds.
    private static let pause: UInt64 = 60_000_000_000
    /// As above, in milliseconds of the store's own clock: of several servers, one counts.
    private static let pauseMilliseconds: Int64 = 60_000
    /// After the start, so that what else is to be read then comes first.
    private static let firstPause: UInt64 = 1_000_000_000

    init(shared: SharedState, opening: DatabaseOpening) {
        self.shared = shared
        self.opening = opening
        dueAt = MonotonicTime.now().nanoseconds + Self.firstPause
    }

    /// Works for a few milliseconds, and says when it wants to again.
    mutating func runSlice(_ open: () throws(StoreError) -> SQLiteConnection) throws(StoreError) {
        let start = MonotonicTime.now().nanoseconds
        do throws(StoreError) {
            let isDone = try work(try open())
            let end = MonotonicTime.now().nanoseconds
            dueAt = end + (isDone ? Self.pause : Self.pauseFactor * (end - start))
        } catch {
            census = nil
            dueAt = MonotonicTime.now().nanoseconds + Self.pause
            throw error
        }
    }

    /// A whole round, without pauses: for tests.
    mutating func runRound(on connection: SQLiteConnection) throws(StoreError) {
        census = try opening.translated { () throws(SQLiteError) in
            CollisionCensus(of: try places(on: connection))
        }
        try runRoundIfDue(on: connection)
    }

    /// As above, unless none is due.
    mutating func runRoundIfDue(on connection: SQLiteConnection) throws(StoreError) {
        while try !work(connection) {}
    }

    /// True when there is nothing to do for a while.
    private mutating func work(_ connection: SQLiteConnection) throws(StoreError) -> Bool {
        guard var census else {
            guard let now = shared.settledNow(),
                try opening.translated({ () throws(SQLiteError) in try isRoundDue(at: now, on: connection) }),
                try takeLease(at: now)
            else { return true }
            self.census = try opening.translated { () throws(SQLiteError) in
                CollisionCensus(of: try places(on: connection))
            }
            return false
        }
        // One copy alone: what it has counted is not small.
        self.census = nil
        // Another process that took the lease meanwhile has begun a count of its own.
        if let leasedAt, MonotonicTime.now().nanoseconds > leasedAt + Self.renewal {
            guard try takeLease(at: shared.configuration.clock.now()) else { return true }
        }
        let isMore = try opening.translated { () throws(SQLiteError) in try census.runSlice(on: connection) }
        guard !isMore else {
            self.census = census
            return false
        }
        let now = shared.configuration.clock.now()
        try keep(census.reports(at: now), on: connection)
        try shared.queue.perform(.job(.finish(.collisions, holder: shared.jobHolder, progress: now)))
        leasedAt = nil
        countedCommits = shared.commitCount
        return true
    }

    private mutating func takeLease(at now: Timestamp) throws(StoreError) -> Bool {
        let lease = JobLease(
            of: .collisions,
            holder: shared.jobHolder,
            at: now,
            milliseconds: Self.leaseMilliseconds
        )
        guard case .flag(let isTaken) = try shared.queue.perform(.job(.takeLease(lease))) else {
            throw .mismatch
        }
        leasedAt = isTaken ? MonotonicTime.now().nanoseconds : nil
        return isTaken
    }

    /// How long another process waits for this one to go on; it is renewed after a third.
    private static let leaseMilliseconds: Int64 = 300_000
    private static let renewal: UInt64 = 100_000_000_000

    /// A few at a time: other writes wait for it.
    private func keep(_ reports: [Scope: CollisionReport], on connection: SQLiteConnection) throws(StoreError)
    {
        var kept: [ScopedCollisions] = []
        for (scope, report) in reports {
            let isNews = try opening.translated { () throws(SQLiteError) in
                // Nothing where nothing was is not worth a write.
                guard report.forms.isEmpty, report.matches == 0 else { return true }
                return try SQLiteReader(connection: connection).collisionReport(of: scope) != nil
            }
            if isNews { kept.append(ScopedCollisions(scope: scope, report: report)) }
        }
        while !kept.isEmpty {
            let some = Array(kept.suffix(Self.keptAtOnce))
            kept.removeLast(some.count)
            try shared.queue.perform(.job(.collisions(some)))
        }
    }

    private static let keptAtOnce = 16

    /// Whether anything can have changed, and no other process has counted just now.
    private func isRoundDue(at now: Timestamp, on connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        guard countedCommits != shared.commitCount else { return false }
        guard let last = try SQLiteReader(connection: connection).progress(of: .collisions) else {
            return true
        }
        return !(0..<Self.pauseMilliseconds).contains(now.milliseconds(since: last))
    }

    private func places(on connection: SQLiteConnection) throws(SQLiteError) -> [CollisionCensus.Place] {
        let standard = shared.configuration.standardWindow
        return try connection.statement(Self.apps).all { row in
            let window = row.optionalInteger(1).flatMap { AttributionWindow(seconds: $0) } ?? standard
            return [false, true].map {
                CollisionCensus.Place(scope: Scope(app: row.integer(0), isTest: $0), window: window)
            }
        }.flatMap(\.self)
    }

    static let apps: SQL = "SELECT number, window_seconds FROM apps"
}
