internal import JSON

/// A table that can be exported; the raw value is its name on the wire and in file names.
public enum ExportTable: String, CaseIterable, Sendable {
    /// Recorded clicks, in the order in which they were recorded.
    case clicks
    /// Recorded checks: all matches, and a limited number of the others.
    ///
    /// The column `weight` is the number of checks that a row represents, including those without a row.
    case checks
    /// The checks that matched a click.
    case matches
    /// All links as they are now, so that each export contains every link.
    case links
    /// Events that apps and servers have sent, in the order in which they were received.
    case events
    /// The deliveries of events to endpoints, in their current state, so that each export contains every
    /// stored delivery.
    case deliveries
    /// The counts of closed hours.
    case counters
    /// Rows of `clicks`, `checks` and `events` that are no longer stored.
    ///
    /// Each erased row has a row here. If an event of a server key replaced an event of an app key, the replaced event
    /// has a row here too. All rows that a table has lost after the retention time are one row here, which states the
    /// time before which the table has no rows.
    case deletions
    /// Apple's postbacks, and the attributions of Apple Ads, in the order in which they were received.
    case applePostbacks = "apple_postbacks"

    /// Whether each export contains the whole table, so that no cursor continues an earlier export.
    public var isSnapshot: Bool { self == .links || self == .deliveries }

    /// The names of the columns after `cursor`, which is the first column of every table.
    ///
    /// No column has a fingerprint, an address, a user agent or a hash of one.
    public var columns: [String] {
        switch self {
        case .clicks:
            [
                "id", "app", "test", "clicked_at", "recorded_at", "expires_at", "destination", "campaign",
                "journey_id", "source", "platform", "os_version", "browser", "link", "variant", "robot",
                "contradictory", "metadata", "click_ids",
            ]
        case .checks: ["id", "at", "app", "test", "outcome", "reason"] + Self.matchColumns + ["weight"]
        case .matches: ["id", "at", "app", "test"] + Self.matchColumns
        case .links:
            ["id", "app", "slug"] + LinkField.allCases.map(\.rawValue)
                + ["clicks", "robots", "matches", "created_at", "updated_at", "archived_at"]
        case .deliveries:
            [
                "id", "app", "test", "endpoint", "type", "at", "sequence", "state", "attempts", "due_at",
                "attempted_at", "status", "problem", "milliseconds",
            ]
        case .counters: ["hour", "app", "test", "campaign", "dimension", "value", "metric", "count"]
        case .events:
            [
                "event_id", "app", "test", "name", "occurred_at", "received_at", "verified", "amount",
                "currency",
                "purchase_id", "properties", "click_id", "campaign", "source", "link", "variant", "method",
                "matched_at",
            ]
        case .deletions: ["table", "id", "app", "at", "reason", "before"]
        case .applePostbacks:
            [
                "id", "received_at", "app", "app_store_id", "framework", "version", "network",
                "source_identifier", "sequence", "did_win", "conversion_type", "publisher",
                "conversion_value", "coarse_conversion_value", "interaction", "country", "verification",
                "environment", "counted",
            ]
        }
    }

    /// Returns the kind of values of a column.
    public func kind(of column: String) -> ExportKind {
        // Every ``LinkField`` is written as a text, even a number or a time.
        guard self != .links || LinkField(rawValue: column) == nil else { return .text }
        return Self.kinds[column] ?? .text
    }

    private static let kinds: [String: ExportKind] = {
        let names: [(ExportKind, [String])] = [
            (
                .time,
                [
                    "clicked_at", "recorded_at", "expires_at", "at", "first_install_time", "created_at",
                    "updated_at", "archived_at", "hour", "before", "occurred_at", "received_at", "matched_at",
                    "due_at", "attempted_at",
                ]
            ),
            (
                .integer,
                [
                    "candidates", "weight", "clicks", "robots", "matches", "count", "sequence",
                    "conversion_value", "attempts", "status", "milliseconds",
                ]
            ),
            (.real, ["confidence", "minimum_confidence", "organic_share"]),
            (
                .flag,
                [
                    "test", "robot", "contradictory", "campaign_only", "names_click", "has_install_id",
                    "did_win", "counted", "verified",
                ]
            ),
        ]
        return names.reduce(into: [:]) { kinds, part in for name in part.1 { kinds[name] = part.0 } }
    }()

    private static let matchColumns = [
        "click_id", "campaign", "method", "confidence", "minimum_confidence", "organic_share", "candidates",
        "campaign_only", "form", "address", "platform", "os_release", "sdk_version", "request_id",
        "names_click",
        "has_install_id", "first_install_time", "play_finding",
    ]
}

/// The kind of values of an exported column; any value may also be unknown.
public enum ExportKind: Sendable {
    case text
    case time
    case integer
    case real
    case flag
}

/// A value of an exported row.
public enum ExportValue: Equatable, Sendable {
    case none
    case text(String)
    case time(Timestamp)
    case integer(Int64)
    case real(Double)
    /// A decimal number with all its digits, such as an amount of money; written as a text if a format has only binary
    /// numbers.
    case decimal(String)
    case flag(Bool)

    public static func text(_ text: String?) -> ExportValue { text.map { .text($0) } ?? .none }
    public static func decimal(_ digits: String?) -> ExportValue { digits.map { .decimal($0) } ?? .none }
    public static func real(_ number: Double?) -> ExportValue { number.map { .real($0) } ?? .none }
    public static func integer(_ number: Int) -> ExportValue { .integer(Int64(number)) }
    public static func time(_ time: Timestamp?) -> ExportValue { time.map { .time($0) } ?? .none }
}

/// An exported row: its position, and a value for each column after the cursor.
public struct ExportRow: Equatable, Sendable {
    public let cursor: ExportCursor
    public let values: [ExportValue]

    public init(_ cursor: ExportCursor, _ values: [ExportValue]) {
        (self.cursor, self.values) = (cursor, values)
    }
}

/// The position of a row in the order of its table, after which an export continues.
public enum ExportCursor: Equatable, Sendable {
    /// The number of a row, which grows with each new row.
    case row(Int64)
    case count(CountCursor)
    case deletion(DeletionCursor)
    case delivery(DeliveryCursor)

    /// Reads the text of a cursor; nil for a text that no row of the table can have.
    public init?(_ text: String, of table: ExportTable) {
        switch table {
        case .counters:
            guard let cursor = CountCursor(text) else { return nil }
            self = .count(cursor)
        case .deletions:
            guard let cursor = DeletionCursor(text) else { return nil }
            self = .deletion(cursor)
        case .deliveries:
            guard let cursor = DeliveryCursor(text) else { return nil }
            self = .delivery(cursor)
        case .clicks, .checks, .matches, .links, .events, .applePostbacks:
            guard let number = Int64(text), number >= 0 else { return nil }
            self = .row(number)
        }
    }

    public var text: String {
        switch self {
        case .row(let number): String(number)
        case .count(let cursor): cursor.text
        case .deletion(let cursor): cursor.text
        case .delivery(let cursor): cursor.text
        }
    }
}

/// What a consumer knows of deletions: the last erased row, and the day before which each table has no rows.
public struct DeletionCursor: Equatable, Sendable {
    /// The number of the last erased row; 0 before the first.
    public var number: Int64
    /// The day of each of ``tables``, as a number of days since 1970; 0 for none.
    public var days: [Int64]

    /// The tables whose rows are deleted after the retention time.
    public static let tables: [ExportTable] = [.clicks, .checks, .events]

    /// Creates a cursor; the consumer knows nothing of the tables that have no day in `days`.
    public init(number: Int64 = 0, days: [Int64] = []) {
        self.number = number
        self.days = days + Array(repeating: 0, count: max(0, Self.tables.count - days.count))
    }

    init?(_ text: String) {
        let fields = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { Int64($0) }.filter { $0 >= 0 }
        // An earlier version exported no events, so a consumer may still have a cursor with only two days. A date can
        // look like such a cursor; refuse it.
        guard 3...Self.tables.count + 1 ~= fields.count, numbers.map({ "\($0)" }) == fields.map(String.init),
            Timestamp(iso8601: text + "T00:00:00Z") == nil
        else { return nil }
        self.init(number: numbers[0], days: Array(numbers.dropFirst()))
    }

    var text: String { ([number] + days).map { String($0) }.joined(separator: "-") }
}

/// The position of a delivery: by the number of its endpoint, and then the newest event first.
public struct DeliveryCursor: Equatable, Sendable {
    public let endpoint: UInt64
    public let event: OutboxEventID

    public init(endpoint: UInt64, event: OutboxEventID) { (self.endpoint, self.event) = (endpoint, event) }

    init?(_ text: String) {
        let parts = text.split(separator: "-").map(String.init)
        guard parts.count == 2, let endpoint = UInt64(parts[0]), let event = OutboxEventID(parts[1]) else {
            return nil
        }
        self.init(endpoint: endpoint, event: event)
    }

    var text: String { "\(endpoint)-\(event.text)" }
}

/// The position of a count, by hour, scope, campaign, dimension, value and metric; texts are compared byte by byte.
public struct CountCursor: Equatable, Comparable, Sendable {
    public var hour: Timestamp
    public var scope: Int64
    public var campaign: String
    public var dimension: Int64
    public var value: String
    public var metric: String

    public init(hour: Timestamp, scope: Int64, campaign: String = "", dimension: Int64 = -1) {
        (self.hour, self.scope, self.campaign, self.dimension) = (hour, scope, campaign, dimension)
        (value, metric) = ("", "")
    }

    /// The separator of parts in cursors of earlier versions; a cursor could not be read if a campaign contained the
    /// separator.
    private static let formerSeparator: Character = "\u{1F}"

    init?(_ text: String) {
        guard let bytes = Base64URL.bytes(of: text) else { return nil }
        let fields: [String]
        if let parts = try? JSONValue(parsing: bytes).array {
            fields = parts.compactMap { $0.string ?? $0.number?.text }
        } else {
            guard let parts = String(validating: bytes, as: UTF8.self) else { return nil }
            fields = parts.split(separator: Self.formerSeparator, omittingEmptySubsequences: false)
                .map(String.init)
        }
        guard fields.count == 6, let hour = Int64(fields[0]), let scope = Int64(fields[1]),
            let dimension = Int64(fields[3])
        else { return nil }
        self.init(
            hour: Timestamp(milliseconds: hour),
            scope: scope,
            campaign: fields[2],
            dimension: dimension
        )
        (value, metric) = (fields[4], fields[5])
    }

    var text: String {
        var json = JSONWriter()
        json.array { json in
            json.value(hour.milliseconds)
            json.value(scope)
            json.value(campaign)
            json.value(dimension)
            json.value(value)
            json.value(metric)
        }
        return Base64URL.text(of: Array(json.text.utf8))
    }

    public static func < (left: CountCursor, right: CountCursor) -> Bool {
        if left.hour != right.hour { return left.hour < right.hour }
        if left.scope != right.scope { return left.scope < right.scope }
        if let isLess = precedes(left.campaign, right.campaign) { return isLess }
        if left.dimension != right.dimension { return left.dimension < right.dimension }
        return precedes(left.value, right.value) ?? precedes(left.metric, right.metric) ?? false
    }

    /// Returns whether the bytes of `left` come first; nil if both have the same bytes.
    private static func precedes(_ left: String, _ right: String) -> Bool? {
        if left.utf8.elementsEqual(right.utf8) { return nil }
        return left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
