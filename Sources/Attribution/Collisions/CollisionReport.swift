/// How many people share the fingerprints of an app's clicks, and how many of its matches may be wrong.
///
/// The report is computed from the clicks and checks that were stored up to ``countedAt``.
public struct CollisionReport: Equatable, Sendable {
    /// The clicks of one platform, as far as fingerprints of one form (one set of hashed signals) find them.
    public struct Form: Equatable, Sendable {
        public var platformForm: PlatformForm
        public var sharing: FingerprintSharing

        public init(platformForm: PlatformForm, sharing: FingerprintSharing) {
            self.platformForm = platformForm
            self.sharing = sharing
        }
    }

    /// When the count ended.
    public var countedAt: Timestamp
    /// The app's window at that time.
    public var window: AttributionWindow
    /// The platforms and forms with clicks, ordered by platform, then by form.
    public var forms: [Form]
    /// The number of recorded matches by a fingerprint.
    public var matches: Int
    /// The number of matches that are expected to be wrong.
    public var expectedFalse: Double
    /// The standard deviation of the number of wrong matches.
    public var spread: Double
    /// The limits for each of ``FalseMatchLimit/shares``.
    public var limits: [FalseMatchLimit]

    public init(
        countedAt: Timestamp,
        window: AttributionWindow,
        forms: [Form],
        matches: Int,
        expectedFalse: Double,
        spread: Double,
        limits: [FalseMatchLimit]
    ) {
        (self.countedAt, self.window, self.forms) = (countedAt, window, forms)
        (self.matches, self.expectedFalse) = (matches, expectedFalse)
        (self.spread, self.limits) = (spread, limits)
    }

    /// The share of matches that is expected to be wrong; nil without a match.
    public var falseShare: Double? { matches > 0 ? expectedFalse / Double(matches) : nil }

    /// - Parameters:
    ///   - sharings: the result of a ``CollisionCount`` whose only window is the app's.
    ///   - estimate: the estimate from the records of the app's checks.
    ///   - window: the app's window.
    ///   - time: the current time.
    public init(
        _ sharings: [PlatformForm: [FingerprintSharing]],
        _ estimate: FalseMatchEstimate,
        window: AttributionWindow,
        at time: Timestamp
    ) {
        let forms = sharings.compactMap { platformForm, sharings in
            sharings.first.map { Form(platformForm: platformForm, sharing: $0) }
        }
        self.init(
            countedAt: time,
            window: window,
            forms: forms.sorted { $0.platformForm.code < $1.platformForm.code },
            matches: estimate.matches,
            expectedFalse: estimate.expectedFalse,
            spread: estimate.spread,
            limits: estimate.limits(within: window)
        )
    }
}

/// The report on one app's collisions.
public struct AppCollisions: Equatable, Sendable {
    public var app: AppID
    public var report: CollisionReport

    public init(app: AppID, report: CollisionReport) {
        self.app = app
        self.report = report
    }
}

/// Counts how many people share a fingerprint in an app's own traffic, for several windows in one pass.
///
/// Rows must be added grouped by fingerprint, as an index returns them; rows of one fingerprint may have any order.
/// Memory contains the rows of only one fingerprint at a time, or a sample of these rows if there are very many.
public struct CollisionCount: Sendable {
    public let windows: [AttributionWindow]
    private var sharings: [PlatformForm: [FingerprintSharing]] = [:]
    private var key: UInt64?
    private var group: [CollisionRow] = []
    /// How often the current fingerprint's rows were halved: the sample contains about one of 2^`halvings` rows.
    private var halvings: UInt64 = 0

    /// The largest number of rows of one fingerprint in memory.
    ///
    /// If there are more, half of them are dropped pseudo-randomly, and again until the rest fits. Each remaining row
    /// also counts for the dropped ones. Even half of this number of rows, spread over a week (the standard retention
    /// time), leaves some thirty rows in a window of ten minutes. A dropped row therefore hardly ever makes another row
    /// seem alone.
    public static let rowLimit = 65_536

    public init(windows: [AttributionWindow]) { self.windows = windows }

    /// Adds the next row; its fingerprint must be the same as the previous row's, or a new one.
    public mutating func add(_ row: CollisionRow) {
        if key != row.key { countGroup() }
        key = row.key
        guard Self.isHeld(row, halvings) else { return }
        group.append(row)
        while group.count > Self.rowLimit {
            halvings += 1
            group.removeAll { [halvings] in !Self.isHeld($0, halvings) }
        }
    }

    /// Returns the sharing of fingerprints by platform and form, for each of ``windows`` in their order.
    public consuming func finished() -> [PlatformForm: [FingerprintSharing]] {
        countGroup()
        return sharings
    }

    /// Returns whether the sample contains a row: a pseudo-random choice that is the same each time.
    private static func isHeld(_ row: CollisionRow, _ halvings: UInt64) -> Bool {
        guard halvings > 0 else { return true }
        var mixed = (row.visitor ^ UInt64(bitPattern: row.at.milliseconds)) &* 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ mixed >> 32) &* 0xd6e8_feb8_6659_fd93
        return mixed >> (64 - min(halvings, 63)) == 0
    }

    private mutating func countGroup() {
        group.sort { ($0.at, $0.visitor) < ($1.at, $1.visitor) }
        for index in windows.indices { countGroup(window: index) }
        group.removeAll(keepingCapacity: group.count < 10_000)
        halvings = 0
    }

    private mutating func countGroup(window index: Int) {
        var first = 0
        var clicksByVisitor: [UInt64: Int] = [:]
        let scale = Double(UInt64(1) << min(halvings, 63))
        for (place, row) in group.enumerated() {
            while !windows[index].covers(clickedAt: group[first].at, now: row.at) {
                let visitor = group[first].visitor
                clicksByVisitor[visitor] = clicksByVisitor[visitor].flatMap { $0 > 1 ? $0 - 1 : nil }
                first += 1
            }
            let own = clicksByVisitor[row.visitor] ?? 0
            clicksByVisitor[row.visitor] = own + 1
            guard let platformForm = row.platformForm else { continue }
            sharings[
                platformForm,
                default: [FingerprintSharing](repeating: FingerprintSharing(), count: windows.count)
            ][index]
            .add(row.weight * scale, competing: Double(place - first - own) * scale)
        }
    }
}

/// A click under one of its fingerprints, as the report on collisions counts it.
public struct CollisionRow: Hashable, Sendable {
    /// A hash of the fingerprint.
    public var key: UInt64
    /// Nil if the form is no longer stored: such a click competes with others, but is not reported itself.
    public var platformForm: PlatformForm?
    public var at: Timestamp
    /// The probability that the click's device sends the fingerprint, 0…1.
    public var weight: Double
    /// A hash of the visitor, whose own clicks do not compete with each other.
    public var visitor: UInt64

    public init(key: UInt64, platformForm: PlatformForm?, at: Timestamp, weight: Double = 1, visitor: UInt64)
    {
        (self.key, self.platformForm, self.at) = (key, platformForm, at)
        (self.weight, self.visitor) = (weight, visitor)
    }
}

/// How many people share a fingerprint of one platform and form within one attribution window.
public struct FingerprintSharing: Equatable, Sendable {
    /// The number of clicks that such fingerprints find.
    ///
    /// A click counts for each of its fingerprints with the probability (weight) that its device sends that
    /// fingerprint.
    public private(set) var clicks: Double
    /// The sum of the weights of the clicks before which no other person clicked with the fingerprint within the
    /// window.
    public private(set) var aloneSum: Double
    /// The sum, over all clicks, of the click's weight times the number of other people's earlier clicks with the
    /// fingerprint within the window.
    public private(set) var competingSum: Double

    public init(clicks: Double = 0, aloneSum: Double = 0, competingSum: Double = 0) {
        self.clicks = clicks
        self.aloneSum = aloneSum
        self.competingSum = competingSum
    }

    /// The share of clicks before which no other person clicked with the fingerprint; nil without a click.
    public var alone: Double? { clicks > 0 ? aloneSum / clicks : nil }
    /// The average number of other people's clicks that compete with a click; nil without a click.
    public var competing: Double? { clicks > 0 ? competingSum / clicks : nil }

    mutating func add(_ weight: Double, competing: Double) {
        clicks += weight
        if competing == 0 { aloneSum += weight }
        competingSum += weight * competing
    }
}
