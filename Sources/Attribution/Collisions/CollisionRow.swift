/// A click under one of its fingerprints, as the report on collisions counts it.
public struct CollisionRow: Hashable, Sendable {
    /// A hash of the fingerprint.
    public var key: UInt64
    public var lane: Lane
    public var at: Timestamp
    /// How likely the click's device sends the fingerprint, 0…1.
    public var weight: Double
    /// A hash of the visitor, whose own clicks do not compete with each other.
    public var visitor: UInt64

    public init(key: UInt64, lane: Lane, at: Timestamp, weight: Double = 1, visitor: UInt64) {
        self.key = key
        self.lane = lane
        self.at = at
        self.weight = weight
        self.visitor = visitor
    }
}

/// How crowded the fingerprints of a lane are under one window.
public struct Crowding: Equatable, Sendable {
    /// Clicks that can be found by such a fingerprint; one that has several counts by their weights.
    public fileprivate(set) var clicks = 0.0
    fileprivate var aloneSum = 0.0
    fileprivate var competingSum = 0.0

    public init() {}

    /// The share of clicks with whose fingerprint nobody else had clicked within the window before them; nil without a
    /// click.
    public var alone: Double? { clicks > 0 ? aloneSum / clicks : nil }
    /// Other people's clicks with the fingerprint in the window before a click, on average; nil without a click.
    public var competing: Double? { clicks > 0 ? competingSum / clicks : nil }

    mutating func add(_ weight: Double, competing: Int) {
        clicks += weight
        if competing == 0 { aloneSum += weight }
        competingSum += weight * Double(competing)
    }
}
