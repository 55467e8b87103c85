public import Attribution

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

    public init(
        _ place: Place,
        clickedAt: Int64,
        closedAs: String?,
        platformForm: UInt64?,
        weight: Double,
        visitor: UInt64
    ) {
        self.place = place
        self.clickedAt = clickedAt
        self.closedAs = closedAs
        self.platformForm = platformForm
        self.weight = weight
        self.visitor = visitor
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
