public import Attribution

/// Counts collisions again and again, and keeps what was found for the statistics.
///
/// Of several processes on one database, one holds the lease and counts for all.
public struct CollisionJob<Reader: JobReader>: Job {
    public let name = JobName.collisions
    public let share = 0.01

    private let context: JobContext<Reader>
    private let standardWindow: AttributionWindow
    /// The number of this process's commits: it moves with each.
    private let commitCount: () -> UInt64
    private var census: CollisionCensus?
    /// Commits when the last round ended; nil before the first.
    private var countedCommits: UInt64?
    /// When the lease was taken or renewed, in nanoseconds; nil without one.
    private var leasedAt: UInt64?

    /// From one round's end to the next one's beginning, in milliseconds: of several servers, one counts.
    private static var pauseMilliseconds: Int64 { 60_000 }
    /// How long another process waits for this one to go on; it is renewed after a third, in nanoseconds.
    private static var leaseMilliseconds: Int64 { 300_000 }
    private static var renewal: UInt64 { 100_000_000_000 }
    /// Reports of one write: others wait for it.
    private static var keptAtOnce: Int { 16 }

    /// - Parameters:
    ///   - context: what jobs share.
    ///   - standardWindow: of apps that have none of their own.
    ///   - commitCount: a number that moves with each of this process's commits.
    public init(
        _ context: JobContext<Reader>,
        standardWindow: AttributionWindow,
        commitCount: @escaping () -> UInt64
    ) {
        self.context = context
        self.standardWindow = standardWindow
        self.commitCount = commitCount
    }

    /// Counts from the start with the next slices, whether a round is due or not; for tests.
    public mutating func beginRound() throws(StoreError) {
        census = CollisionCensus(of: try places())
    }

    public mutating func slice(at moment: UInt64) throws(StoreError) -> Due {
        let pause = Due.after(UInt64(Self.pauseMilliseconds) * 1_000_000)
        guard var census else {
            guard let now = context.clock.settledNow(), try isRoundDue(at: now),
                try takeLease(at: now, moment)
            else { return pause }
            try beginRound()
            return .more
        }
        // One copy alone, because it is large; and none after a failure, which begins the round anew.
        self.census = nil
        // Another process that took the lease meanwhile has begun a count of its own.
        if let leasedAt, moment > leasedAt + Self.renewal {
            guard try takeLease(at: context.clock.now, moment) else { return pause }
        }
        let isMore = try context.read { reader throws(Reader.Failure) in try census.runSlice(reader) }
        guard !isMore else {
            self.census = census
            return .more
        }
        let now = context.clock.now
        try keep(census.reports(at: now))
        try context.finish(.collisions, progress: now)
        leasedAt = nil
        countedCommits = commitCount()
        return pause
    }

    private mutating func takeLease(at now: Timestamp, _ moment: UInt64) throws(StoreError) -> Bool {
        let lease = context.lease(of: .collisions, at: now, milliseconds: Self.leaseMilliseconds)
        leasedAt = try context.take(lease) ? moment : nil
        return leasedAt != nil
    }

    /// Whether anything can have changed, and no other process has counted just now.
    private func isRoundDue(at now: Timestamp) throws(StoreError) -> Bool {
        guard countedCommits != commitCount() else { return false }
        let last = try context.read { reader throws(Reader.Failure) in try reader.progress(of: .collisions) }
        guard let last else { return true }
        return !(0..<Self.pauseMilliseconds).contains(now.milliseconds(since: last))
    }

    private func places() throws(StoreError) -> [CollisionCensus.Place] {
        let apps = try context.read { reader throws(Reader.Failure) in try reader.numberedApps() }
        return apps.flatMap { app in
            app.scopes.map { CollisionCensus.Place(scope: $0, window: app.window ?? standardWindow) }
        }
    }

    private func keep(_ reports: [Scope: CollisionReport]) throws(StoreError) {
        var kept: [ScopedCollisions] = []
        for (scope, report) in reports {
            let isKept = try context.read { reader throws(Reader.Failure) in
                // Nothing where nothing was is not worth a write.
                guard report.forms.isEmpty, report.matches == 0 else { return true }
                return try reader.collisionReport(of: scope) != nil
            }
            if isKept { kept.append(ScopedCollisions(scope: scope, report: report)) }
        }
        while !kept.isEmpty {
            let some = Array(kept.suffix(Self.keptAtOnce))
            kept.removeLast(some.count)
            try context.queue.perform(.job(.collisions(some)))
        }
    }
}
