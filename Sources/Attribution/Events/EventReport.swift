/// A query for sums of events.
public struct EventQuery: Equatable, Sendable {
    /// The app, time span, campaign and traffic; slices and intervals have no effect.
    public var span: StatisticsQuery
    /// Whether the report has the cohorts, campaigns, links and sources in addition to the totals.
    public var hasGroups = true

    public init(_ span: StatisticsQuery) { self.span = span }
}

/// Campaigns by their keys, or links by their ids.
public enum EventGroups: Equatable, Sendable {
    case campaigns([String])
    case links([String])
}

/// The sums of events with one name and currency.
public struct EventSum: Equatable, Sendable {
    public let name: String
    /// Nil for events without an amount.
    public let currency: Currency?
    public var events: Int64 = 0
    /// The number of matched installations; each counts once for a name, with its first credited event of that name.
    public var installs: Int64 = 0
    /// Revenue that app and test keys have reported, in the currency's smallest units.
    public var reported: Int64 = 0
    /// Revenue that server keys have reported, in the same units; it alone is the `total` of the API.
    public var verified: Int64 = 0

    public init(name: String, currency: Currency?) { (self.name, self.currency) = (name, currency) }
}

/// The values under which events are counted: the event's name and, after a blank, the currency's code.
public enum EventCount {
    /// The names of the counts.
    public static let events = "events"
    public static let installs = "installs"
    public static let reported = "reported"
    public static let verified = "verified"

    public static func value(_ name: String, _ currency: Currency?) -> String {
        currency.map { "\(name) \($0.code)" } ?? name
    }

    /// Returns the name of the event in a value.
    public static func name(ofValue value: String) -> String {
        value.split(separator: " ", maxSplits: 1).first.map(String.init) ?? value
    }

    /// A cohort's events are summed up to the end of each of these days; day 0 is the first 24 hours after an
    /// installation's match.
    public static let cohortDays: [Int64] = [0, 1, 3, 7, 14, 30]

    /// Returns the first of ``cohortDays`` that ends after an event; nil if all of them end before it.
    ///
    /// An event before its match counts on day 0.
    public static func cohortDay(of event: Timestamp, matchedAt: Timestamp) -> Int64? {
        let age = max(0, event.milliseconds(since: matchedAt) / 86_400_000)
        return cohortDays.first { age <= $0 }
    }

    /// Returns the value under which a cohort's events are counted; ``cohortParts(_:)`` splits it.
    public static func cohortValue(_ day: Int64, _ value: String) -> String { "D\(day) \(value)" }

    public static func cohortParts(_ value: String) -> (day: Int64, value: String)? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].hasPrefix("D"), let day = Int64(parts[0].dropFirst()) else {
            return nil
        }
        return (day, String(parts[1]))
    }
}

/// Sums of events by their names and currencies.
public struct EventSums: Equatable, Sendable {
    private var sums: [String: EventSum] = [:]

    public init() {}

    /// Adds a count under a value of ``EventCount/value(_:_:)``; ignores a metric that is no sum of events.
    public mutating func add(_ count: Int64, _ metric: String, of value: String) {
        let parts = value.split(separator: " ", maxSplits: 1).map(String.init)
        let currency = parts.count == 2 ? Currency(parts[1]) : nil
        var sum = sums[value] ?? EventSum(name: parts.first ?? value, currency: currency)
        switch metric {
        case EventCount.events: sum.events.addClamped(count)
        case EventCount.installs: sum.installs.addClamped(count)
        case EventCount.reported: sum.reported.addClamped(count)
        case EventCount.verified: sum.verified.addClamped(count)
        default: return
        }
        sums[value] = sum
    }

    /// The sums that are not zero; a sum becomes zero if events of server keys replace all its events.
    private var counted: [String: EventSum] {
        sums.filter { $1 != EventSum(name: $1.name, currency: $1.currency) }
    }

    /// The sums, those with the most events first.
    public var all: [EventSum] {
        counted.sorted { ($1.value.events, $0.key) < ($0.value.events, $1.key) }.map(\.value)
    }

    public var isEmpty: Bool { counted.isEmpty }

    /// The revenue by currency, of all names together.
    public var revenue: [EventSum] {
        var total: [String: EventSum] = [:]
        for sum in counted.values {
            guard let currency = sum.currency else { continue }
            var all = total[currency.code] ?? EventSum(name: "", currency: currency)
            all.events.addClamped(sum.events)
            all.reported.addClamped(sum.reported)
            all.verified.addClamped(sum.verified)
            total[currency.code] = all
        }
        return total.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The number of events of all names.
    public var eventCount: Int64 { sums.values.reduce(0) { .clampedSum($0, $1.events) } }
}

/// The events of a time span.
public struct EventReport: Equatable, Sendable {
    public struct Group: Equatable, Sendable {
        /// The campaign key, the link's id or the source.
        public let name: String
        public let matches: Int64
        public var sums: EventSums

        public init(name: String, matches: Int64, sums: EventSums) {
            (self.name, self.matches, self.sums) = (name, matches, sums)
        }
    }
    /// The installations that were matched on one day, and their events until the end of each of
    /// ``EventCount/cohortDays``.
    public struct Cohort: Equatable, Sendable {
        /// The day in UTC on which the installations were matched.
        public let day: Timestamp
        public let matches: Int64
        /// The sums for each of ``EventCount/cohortDays``; each includes the events of the days before it.
        public var sums: [EventSums]

        public init(day: Timestamp, matches: Int64, sums: [EventSums]) {
            (self.day, self.matches, self.sums) = (day, matches, sums)
        }
    }

    /// All events, also the events of installations without a match.
    public var totals = EventSums()
    public var matches: Int64 = 0
    public var byCampaign: [Group] = []
    public var byLink: [Group] = []
    public var bySource: [Group] = []
    /// The newest cohort first.
    public var cohorts: [Cohort] = []

    public init() {}
}
