internal import Attribution
internal import SQLite
internal import Storage

/// Counts collisions in what is stored: first all fingerprints, then all records of checks.
///
/// It goes on in slices, each a read of its own, so that the write-ahead log can begin anew between them; what moves
/// meanwhile is counted where it is met.
struct CollisionCensus {
    /// Whose clicks and checks are counted, under which window.
    struct Place: Sendable {
        let scope: Scope
        let window: AttributionWindow
    }

    /// Rows of one slice.
    private static let sliceLength = 2000
    /// How much of the way the fingerprints are, as far as a progress tells.
    private static let fingerprintsShare = 0.8

    private let places: [Place]
    private var place = 0
    private var row = Row.first
    private var count: CollisionCount?
    private var crowdings: [Scope: [PlatformForm: [FingerprintSharing]]] = [:]
    private var estimates: [Scope: FalseMatchEstimate] = [:]
    /// The last record that was read; nil before the first.
    private var record: Int64?
    private var records: ClosedRange<Int64>?
    private var isDone = false

    /// A row's place in the order of the table, within a scope.
    private struct Row {
        var hash: Int64
        var state: Int64
        var since: Int64
        var click: Int64

        /// Before all others.
        static let first = Row(hash: .min, state: -1, since: .min, click: .min)
    }

    init(of places: [Place]) {
        self.places = places
    }

    /// How much of it is done, about: 0…1.
    var progress: Double {
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
    mutating func runSlice(on connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        if place < places.count {
            try countFingerprints(places[place], on: connection)
        } else if !isDone {
            try countRecords(on: connection)
        }
        return !isDone
    }

    /// What was found in each scope, as of a moment.
    func reports(at moment: Timestamp) -> [Scope: CollisionReport] {
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

    private mutating func countFingerprints(_ place: Place, on connection: SQLiteConnection)
        throws(SQLiteError)
    {
        var count = self.count ?? CollisionCount(windows: [place.window])
        // One copy alone: what it holds is not small.
        self.count = nil
        var (read, last) = (0, row)
        try connection.statement(Self.fingerprints).forEach(
            place.scope.number,
            row.hash,
            row.state,
            row.since,
            row.click,
            Self.sliceLength
        ) { found in
            read += 1
            last = Row(
                hash: found.integer(0),
                state: found.integer(1),
                since: found.integer(2),
                click: found.integer(3)
            )
            if let row = Self.counted(found) { count.add(row) }
        }
        row = last
        self.count = count
        guard read < Self.sliceLength else { return }
        crowdings[place.scope] = self.count?.finished()
        self.count = nil
        row = .first
        self.place += 1
    }

    /// Nil for what no launch's fingerprint finds: a robot's click, and an advertising id.
    private static func counted(_ row: Statement) -> CollisionRow? {
        let isClosed = row.integer(1) != 0
        if isClosed, row.text(5) == NoMatchReason.robotClick.rawValue { return nil }
        let code = row.optionalInteger(6).map { UInt64(bitPattern: $0) }
        let lane = code.flatMap { PlatformForm(code: $0) }
        guard lane?.code == code else { return nil }
        let visitor = row.integer(8)
        return CollisionRow(
            key: UInt64(bitPattern: row.integer(0)),
            platformForm: lane,
            at: Timestamp(milliseconds: row.integer(isClosed ? 4 : 2)),
            weight: row.optionalReal(7) ?? 0,
            // Of a click from before visitors were noted, each is one of his own.
            visitor: UInt64(bitPattern: visitor != 0 ? visitor : row.integer(3))
        )
    }

    private mutating func countRecords(on connection: SQLiteConnection) throws(SQLiteError) {
        if records == nil {
            let bounds = try connection.statement(Self.bounds).first { (row) -> ClosedRange<Int64>? in
                guard !row.isNull(0) else { return nil }
                return row.integer(0)...max(row.integer(0), row.integer(1))
            }
            guard let bounds = bounds ?? nil else {
                isDone = true
                return
            }
            records = bounds
        }
        var (read, last) = (0, record)
        let scopes = Set(places.map(\.scope))
        try connection.statement(Self.checks).forEach(record ?? .min, Self.sliceLength) {
            row throws(SQLiteError) in
            var row = StatementRow(row)
            let check = try row.record(CheckRecord.self)
            read += 1
            last = Int64(bitPattern: check.id.high)
            guard scopes.contains(check.scope) else { return }
            estimates[check.scope, default: FalseMatchEstimate()]
                .add(check.facts, clickedAt: row.get("clicked_at"))
        }
        record = last
        isDone = read < Self.sliceLength
    }

    static let fingerprints: SQL = """
        SELECT hash, state, since, click, clicked_at, closed_as, platform_form, weight, visitor
        FROM click_index
        WHERE scope = ?1 AND (hash, state, since, click) > (?2, ?3, ?4, ?5)
        ORDER BY hash, state, since, click LIMIT ?6
        """
    static let bounds: SQL = "SELECT (SELECT min(id) FROM checks), (SELECT max(id) FROM checks)"
    static let checks: SQL = """
        SELECT \(CheckRecord.columns, of: "checks"), clicks.clicked_at
        FROM checks LEFT JOIN clicks ON clicks.id = click
        WHERE checks.id > ?1 ORDER BY checks.id LIMIT ?2
        """
}
