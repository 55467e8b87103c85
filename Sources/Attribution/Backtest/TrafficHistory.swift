/// The recorded clicks and checks of one app, in the order of time.
///
/// A store hands them out piece by piece, so that memory does not follow their number, and holds up nobody who writes.
public protocol TrafficHistory {
    /// The first and the last moment of what is there; nil where there is nothing.
    var span: (first: Timestamp, last: Timestamp)? { get }

    /// Whether nothing is missing from before: from the first click or check on which the app's traffic was learnt from,
    /// all are there.
    var isWhole: Bool { get }

    /// What could not be known of the events that were handed out so far.
    var gaps: HistoryGaps { get }

    /// The next event; nil at the end.
    mutating func next() throws(StoreError) -> RecordedEvent?
}

/// What records do not tell: how many events each thing is not known of.
public struct HistoryGaps: Equatable, Sendable {
    /// Clicks from before their visitors were recorded: each visit counts as a visitor.
    public var clicksWithoutVisitor = 0
    /// Clicks of whose fingerprints some could not be made again from their signals, under the present settings and
    /// tables: these count in full and in no form.
    public var clicksNotRemade = 0
    public var clicksWithoutAddress = 0
    /// Clicks that a launch consumed which is not recorded any more.
    public var clicksConsumedBefore = 0
    public var clicks = 0

    public var launches = 0
    /// Launches from before it was recorded who asked: fingerprint and address stand for it.
    public var launchesWithoutCaller = 0
    public var launchesWithoutAddress = 0
    /// Launches that brought nothing which a fingerprint could find, and were given no click.
    public var launchesWithoutFingerprint = 0
    /// Launches that named a click which they were not given: the record does not say which.
    public var launchesNamingOtherClick = 0
    /// Launches that are not recorded, in floods; records of the same time stand for them.
    public var launchesNotRecorded = 0
    /// Matches whose probability was recorded with its limit alone.
    public var probabilitiesNotKnown = 0
    /// Claims since the first check, and matches that are recorded.
    public var claims = 0
    public var matches = 0
    /// The probabilities that launches were held to, and how many were.
    public var minimums: [Double: Int] = [:]

    public init() {}

    /// Matches whose record was lost with a process.
    public var matchesNotRecorded: Int { max(0, claims - matches) }
}
