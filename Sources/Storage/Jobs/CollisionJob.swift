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

/// Counts collisions in what is stored: first all fingerprints, then all records of checks.
///
/// It goes on in slices, each a read of its own, so that a write-ahead log can begin anew between them; what moves
/// meanwhile is counted where it is met.
public struct CollisionCensus {
    /// Whose clicks and checks are counted, under which window.
    public struct Place: Sendable {
        public let scope: Scope
        public let window: AttributionWindow

        public init(scope: Scope, window: AttributionWindow) {
            self.scope = scope
            self.window = window
        }
    }

    /// Rows of one slice.
    private static let sliceLength = 2000
    /// How much of the way the fingerprints are, as far as a progress tells.
    private static let fingerprintsShare = 0.8

    private let places: [Place]
    private var place = 0
    private var row = IndexedClick.Place.first
    private var count: CollisionCount?
    private var crowdings: [Scope: [PlatformForm: [FingerprintSharing]]] = [:]
    private var estimates: [Scope: FalseMatchEstimate] = [:]
    /// The last record that was read; nil before the first.
    private var record: Int64?
    private var records: ClosedRange<Int64>?
    private var isDone = false

    public init(of places: [Place]) {
        self.places = places
    }

    /// How much of it is done, about: 0…1.
    public var progress: Double {
        guard !isDone else { return 1 }
        guard let record, let records else {
            // Hashes are spread evenly.
            let within = (Double(row.hash) / Double(Int64.max) + 1) / 2
            return Self.fingerprintsShare * (Double(place) + within) / Double(max(places.count, 1))
        }
        let span = Double(records.upperBound) - Double(records.lowerBound)
        let within = span > 0 ? (Double(record) - Double(records.lowerBound)) / span : 1
        return Self.fingerprintsShare + (1 - Self.fingerprintsShare) * min(max(within, 0), 1)
    }

    /// Reads on; false when all is counted.
    public mutating func runSlice<Reader: JobReader>(_ reader: Reader) throws(Reader.Failure) -> Bool {
        if place < places.count {
            try countFingerprints(places[place], reader)
        } else if !isDone {
            try countRecords(reader)
        }
        return !isDone
    }

    /// What was found in each scope, as of a moment.
    public func reports(at moment: Timestamp) -> [Scope: CollisionReport] {
        var reports: [Scope: CollisionReport] = [:]
        for place in places {
            reports[place.scope] = CollisionReport(
                crowdings[place.scope] ?? [:],
                estimates[place.scope] ?? FalseMatchEstimate(),
                window: place.window,
                at: moment
            )
        }
        return reports
    }

    private mutating func countFingerprints<Reader: JobReader>(_ place: Place, _ reader: Reader)
        throws(Reader.Failure)
    {
        var count = self.count ?? CollisionCount(windows: [place.window])
        // One copy alone: what it holds is not small.
        self.count = nil
        var (read, last) = (0, row)
        try reader.indexedClicks(of: place.scope, after: row, atMost: Self.sliceLength) { click in
            read += 1
            last = click.place
            if let row = click.collisionRow { count.add(row) }
        }
        row = last
        self.count = count
        guard read < Self.sliceLength else { return }
        crowdings[place.scope] = self.count?.finished()
        self.count = nil
        row = .first
        self.place += 1
    }

    private mutating func countRecords<Reader: JobReader>(_ reader: Reader) throws(Reader.Failure) {
        if records == nil { records = try reader.checkRecordBounds() }
        guard records != nil else {
            isDone = true
            return
        }
        var (read, last) = (0, record)
        let scopes = Set(places.map(\.scope))
        try reader.checkRecords(after: record ?? .min, atMost: Self.sliceLength) { check, clickedAt in
            read += 1
            last = Int64(bitPattern: check.id.high)
            guard scopes.contains(check.scope) else { return }
            estimates[check.scope, default: FalseMatchEstimate()].add(check.facts, clickedAt: clickedAt)
        }
        record = last
        isDone = read < Self.sliceLength
    }
}

/// A row of the index of clicks, open or closed, as far as collisions are about it.
public struct IndexedClick: Sendable {
    /// A row's place in the order of the index, within a scope.
    public struct Place: Sendable {
        public let hash: Int64
        /// 0 for an open row.
        public let state: Int64
        /// When the click happened; of a closed row, when it was closed.
        public let since: Int64
        public let click: Int64

        public init(hash: Int64, state: Int64, since: Int64, click: Int64) {
            self.hash = hash
            self.state = state
            self.since = since
            self.click = click
        }

        /// Before all others.
        public static let first = Place(hash: .min, state: -1, since: .min, click: .min)
    }

    public let place: Place
    /// When the click of a closed row happened.
    public let clickedAt: Int64
    /// Nil for an open row.
    public let closedAs: String?
    /// ``PlatformForm/code``; nil for a row that was closed before it was kept.
    public let platformForm: UInt64?
    public let weight: Double
    /// 0 where it is unknown.
    public let visitor: UInt64

    public static let columns: Columns = [
        "hash", "state", "since", "click", "clicked_at", "closed_as", "platform_form", "weight", "visitor",
    ]

    public init(_ row: inout some RowReader) {
        place = Place(
            hash: row.get("hash"),
            state: row.get("state"),
            since: row.get("since"),
            click: row.get("click")
        )
        clickedAt = row.get("clicked_at")
        closedAs = row.get("closed_as")
        platformForm = row.get("platform_form")
        weight = row.get("weight")
        visitor = row.get("visitor")
    }

    /// Nil for what no launch's fingerprint finds: a robot's click, and an advertising id.
    var collisionRow: CollisionRow? {
        if place.state != 0, closedAs == NoMatchReason.robotClick.rawValue { return nil }
        let form = platformForm.flatMap { PlatformForm(code: $0) }
        guard form?.code == platformForm else { return nil }
        return CollisionRow(
            key: UInt64(bitPattern: place.hash),
            platformForm: form,
            at: Timestamp(milliseconds: place.state == 0 ? place.since : clickedAt),
            weight: weight,
            // Each click without a noted visitor counts as a visitor of its own.
            visitor: visitor != 0 ? visitor : UInt64(bitPattern: place.click)
        )
    }
}
