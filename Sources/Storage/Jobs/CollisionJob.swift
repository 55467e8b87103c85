public import Attribution

/// Counts collisions (visitors with equal fingerprints) once a minute if this process has changed clicks or check records
/// since its last count, and stores the reports for the statistics.
///
/// If several processes have the database open, the one with the job's lease (the right to do it) counts.
public struct CollisionJob<Reader: JobReader>: Job {
    public let name = JobName.collisions
    public let share = 0.01

    private let context: JobContext<Reader>
    private var census: CollisionCensus?
    /// ``StoreState/trafficChangeCount`` at the start of the last complete round; nil before the end of the first round.
    private var countedChanges: UInt64?
    /// ``StoreState/trafficChangeCount`` at the start of the current round.
    private var changesAtStart: UInt64 = 0
    /// The time at which the lease was taken or renewed, in nanoseconds; nil without a lease.
    private var leasedAt: UInt64?

    /// The milliseconds between two rounds of any process.
    private static var pauseMilliseconds: Int64 { 60_000 }
    /// How long the lease lasts, in milliseconds, and the age at which it is renewed, in nanoseconds.
    private static var leaseMilliseconds: Int64 { 300_000 }
    private static var renewal: UInt64 { 100_000_000_000 }
    /// The maximum number of reports in one write; a longer write would delay other writes.
    private static var keptAtOnce: Int { 16 }

    public init(_ context: JobContext<Reader>) { self.context = context }

    /// Starts a round, even if none is due; for tests.
    public mutating func beginRound() throws(StoreError) {
        changesAtStart = context.state.trafficChangeCount
        census = CollisionCensus(of: try scopeWindows())
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
        // The census is moved out of the property, because a copy is large. After a failure the round starts again.
        self.census = nil
        // If another process has taken the lease meanwhile, it has started its own count.
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
        countedChanges = changesAtStart
        return pause
    }

    private mutating func takeLease(at now: Timestamp, _ moment: UInt64) throws(StoreError) -> Bool {
        let lease = context.lease(of: .collisions, at: now, milliseconds: Self.leaseMilliseconds)
        leasedAt = try context.take(lease) ? moment : nil
        return leasedAt != nil
    }

    /// Whether this process has changed clicks or check records since the start of its last round, and no process has
    /// counted within the pause.
    ///
    /// Other commits make no round due, or each round would be: some job commits every few seconds. Before its first
    /// round, a process needs no change.
    private func isRoundDue(at now: Timestamp) throws(StoreError) -> Bool {
        guard countedChanges != context.state.trafficChangeCount else { return false }
        let last = try context.read { reader throws(Reader.Failure) in try reader.progress(of: .collisions) }
        guard let last else { return true }
        return !(0..<Self.pauseMilliseconds).contains(now.milliseconds(since: last))
    }

    private func scopeWindows() throws(StoreError) -> [CollisionCensus.ScopeWindow] {
        let apps = try context.read { reader throws(Reader.Failure) in try reader.numberedApps() }
        let standardWindow = context.state.configuration.standardWindow
        return apps.flatMap { app in
            let window = (app.window ?? standardWindow).limited(to: app.fingerprintWindow)
            return app.scopes.map { CollisionCensus.ScopeWindow(scope: $0, window: window) }
        }
    }

    private func keep(_ reports: [Scope: CollisionReport]) throws(StoreError) {
        var kept: [(scope: Scope, report: CollisionReport)] = []
        for (scope, report) in reports {
            let isKept = try context.read { reader throws(Reader.Failure) in
                // An empty report is stored only if it replaces another one.
                guard report.forms.isEmpty, report.matches == 0 else { return true }
                return try reader.collisionReport(of: scope) != nil
            }
            if isKept { kept.append((scope, report)) }
        }
        while !kept.isEmpty {
            let some = Array(kept.suffix(Self.keptAtOnce))
            kept.removeLast(some.count)
            try context.queue.perform(.job(.collisions(some)))
        }
    }
}

/// Counts the stored collisions: first from all fingerprints, then from all records of checks.
///
/// Each slice is a separate read, so that a write-ahead log can be reset between slices. Rows that move between two
/// slices are counted at their new position.
struct CollisionCensus {
    /// A scope whose clicks and checks are counted, and its window.
    struct ScopeWindow: Sendable {
        let scope: Scope
        let window: AttributionWindow
    }

    /// The number of rows in one slice.
    private static let sliceLength = 2000
    /// The share of ``progress`` that the fingerprints make up; the records make up the rest.
    private static let fingerprintsShare = 0.8

    private let scopeWindows: [ScopeWindow]
    /// The index of the scope whose clicks are counted.
    private var index = 0
    private var row = IndexedClick.Position.first
    private var count: CollisionCount?
    private var sharings: [Scope: [PlatformForm: [FingerprintSharing]]] = [:]
    private var estimates: [Scope: FalseMatchEstimate] = [:]
    /// The last record that was read; nil before the first.
    private var record: Int64?
    private var records: ClosedRange<Int64>?
    private var isDone = false

    init(of scopeWindows: [ScopeWindow]) { self.scopeWindows = scopeWindows }

    /// The approximate share of the count that is done: 0…1.
    var progress: Double {
        guard !isDone else { return 1 }
        guard let record, let records else {
            // Hashes are spread evenly.
            let within = (Double(row.hash) / Double(Int64.max) + 1) / 2
            return Self.fingerprintsShare * (Double(index) + within) / Double(max(scopeWindows.count, 1))
        }
        let span = Double(records.upperBound) - Double(records.lowerBound)
        let within = span > 0 ? (Double(record) - Double(records.lowerBound)) / span : 1
        return Self.fingerprintsShare + (1 - Self.fingerprintsShare) * min(max(within, 0), 1)
    }

    /// Counts the next rows; returns false after the last ones.
    mutating func runSlice<Reader: JobReader>(_ reader: Reader) throws(Reader.Failure) -> Bool {
        if index < scopeWindows.count {
            try countFingerprints(scopeWindows[index], reader)
        } else if !isDone {
            try countRecords(reader)
        }
        return !isDone
    }

    /// Returns the report of each scope, as of a time.
    func reports(at moment: Timestamp) -> [Scope: CollisionReport] {
        var reports: [Scope: CollisionReport] = [:]
        for counted in scopeWindows {
            reports[counted.scope] = CollisionReport(
                sharings[counted.scope] ?? [:],
                estimates[counted.scope] ?? FalseMatchEstimate(),
                window: counted.window,
                at: moment
            )
        }
        return reports
    }

    private mutating func countFingerprints<Reader: JobReader>(_ counted: ScopeWindow, _ reader: Reader)
        throws(Reader.Failure)
    {
        var count = self.count ?? CollisionCount(windows: [counted.window])
        // The count is moved out of the property, because a copy is large.
        self.count = nil
        var (read, last) = (0, row)
        try reader.indexedClicks(of: counted.scope, after: row, atMost: Self.sliceLength) { click in
            read += 1
            last = click.position
            if let row = click.collisionRow { count.add(row) }
        }
        row = last
        self.count = count
        guard read < Self.sliceLength else { return }
        sharings[counted.scope] = self.count?.finished()
        self.count = nil
        row = .first
        index += 1
    }

    private mutating func countRecords<Reader: JobReader>(_ reader: Reader) throws(Reader.Failure) {
        if records == nil { records = try reader.checkRecordBounds() }
        guard records != nil else {
            isDone = true
            return
        }
        var (read, last) = (0, record)
        let scopes = Set(scopeWindows.map(\.scope))
        try reader.checks(NumberedRows(.ascending, after: record ?? -1, limit: Self.sliceLength)) { check in
            (read, last) = (read + 1, check.number)
            let (scope, facts) = (check.record.scope, check.record.facts)
            if scopes.contains(scope) {
                estimates[scope, default: FalseMatchEstimate()].add(facts, clickedAt: check.clickedAt)
            }
            return true
        }
        record = last
        isDone = read < Self.sliceLength
    }
}

/// The values of an index row, open or closed, that collisions are counted from.
public struct IndexedClick: Sendable {
    /// A row's position in the order of the index, within a scope.
    public struct Position: Sendable {
        public let hash: Int64
        /// 0 for an open row.
        public let state: Int64
        /// When the click happened; in a closed row, when it was closed.
        public let since: Int64
        public let click: Int64

        public init(hash: Int64, state: Int64, since: Int64, click: Int64) {
            (self.hash, self.state, self.since, self.click) = (hash, state, since, click)
        }

        /// The position before all rows.
        public static let first = Position(hash: .min, state: -1, since: .min, click: .min)
    }

    public let position: Position
    /// When the click of a closed row happened.
    public let clickedAt: Int64
    /// Nil for an open row.
    public let closedAs: String?
    /// ``PlatformForm/code``; nil if a closed row does not contain it.
    public let platformForm: UInt64?
    public let weight: Double
    /// 0 if it is unknown.
    public let visitor: UInt64

    public static let columns: Columns = [
        "hash", "state", "since", "click", "clicked_at", "closed_as", "platform_form", "weight", "visitor",
    ]

    public init(_ row: inout some RowReader) {
        let (hash, state): (Int64, Int64) = (row.get("hash"), row.get("state"))
        let (since, click): (Int64, Int64) = (row.get("since"), row.get("click"))
        position = Position(hash: hash, state: state, since: since, click: click)
        clickedAt = row.get("clicked_at")
        closedAs = row.get("closed_as")
        platformForm = row.get("platform_form")
        weight = row.get("weight")
        visitor = row.get("visitor")
    }

    /// The row for the count; nil for a robot's click, and for a row of an advertising id, which is no fingerprint.
    var collisionRow: CollisionRow? {
        if position.state != 0, closedAs == NoMatchReason.robotClick.rawValue { return nil }
        let form = platformForm.flatMap { PlatformForm(code: $0) }
        guard form?.code == platformForm else { return nil }
        return CollisionRow(
            key: UInt64(bitPattern: position.hash),
            platformForm: form,
            at: Timestamp(milliseconds: position.state == 0 ? position.since : clickedAt),
            weight: weight,
            // A click without a known visitor counts as a separate visitor.
            visitor: visitor != 0 ? visitor : UInt64(bitPattern: position.click)
        )
    }
}
