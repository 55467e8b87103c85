/// A click under one of its fingerprints, as the report on collisions counts it.
public struct CollisionRow: Hashable, Sendable {
    /// A hash of the fingerprint.
    public var key: UInt64
    /// Nil where it is not known any more: such a click competes with others and is not reported itself.
    public var platformForm: PlatformForm?
    public var at: Timestamp
    /// How likely the click's device sends the fingerprint, 0…1.
    public var weight: Double
    /// A hash of the visitor, whose own clicks do not compete with each other.
    public var visitor: UInt64

    public init(key: UInt64, platformForm: PlatformForm?, at: Timestamp, weight: Double = 1, visitor: UInt64)
    {
        self.key = key
        self.platformForm = platformForm
        self.at = at
        self.weight = weight
        self.visitor = visitor
    }
}

/// How crowded the fingerprints of a platformForm are under one window.
public struct FingerprintSharing: Equatable, Sendable {
    /// Clicks that can be found by such a fingerprint; one that has several counts by their weights.
    public private(set) var clicks: Double
    /// Of them, those with whose fingerprint nobody else had clicked within the window before them.
    public private(set) var aloneSum: Double
    /// Other people's clicks with the fingerprint in the window before each of them, together.
    public private(set) var competingSum: Double

    public init(clicks: Double = 0, aloneSum: Double = 0, competingSum: Double = 0) {
        self.clicks = clicks
        self.aloneSum = aloneSum
        self.competingSum = competingSum
    }

    /// The share of clicks that are alone on their fingerprint; nil without a click.
    public var alone: Double? { clicks > 0 ? aloneSum / clicks : nil }
    /// Other people's clicks that compete with a click, on average; nil without a click.
    public var competing: Double? { clicks > 0 ? competingSum / clicks : nil }

    mutating func add(_ weight: Double, competing: Double) {
        clicks += weight
        if competing == 0 { aloneSum += weight }
        competingSum += weight * competing
    }
}
