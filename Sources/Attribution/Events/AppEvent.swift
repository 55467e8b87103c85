/// The name of an event: 1 to 40 lower-case letters, digits and underscores.
public struct EventName: Hashable, Sendable {
    public let text: String

    /// Creates a name; nil for a text of another form.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
        guard isAllowed, (1...40).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    private init(reserved text: String) { self.text = text }

    public static let open = EventName(reserved: "open")
    public static let purchase = EventName(reserved: "purchase")
    public static let refund = EventName(reserved: "refund")

    /// The names that have a meaning of their own.
    public static let reserved: [String] = [
        "open", "sign_up", "purchase", "refund", "subscription_started", "subscription_renewed",
        "subscription_cancelled",
    ]
}

/// The match that an event is credited to, as the event's row stores it.
public struct EventAttribution: Hashable, Sendable {
    public let click: ClickID
    public let campaign: String?
    public let source: SourceToken
    public let link: LinkID?
    public let variant: String?
    public let method: AttributionMethod
    public let matchedAt: Timestamp

    public init(
        click: ClickID,
        campaign: String?,
        source: SourceToken,
        link: LinkID?,
        variant: String?,
        method: AttributionMethod,
        matchedAt: Timestamp
    ) {
        (self.click, self.campaign, self.source, self.link) = (click, campaign, source, link)
        (self.variant, self.method, self.matchedAt) = (variant, method, matchedAt)
    }

    /// The longest time from an event to a later match that it can be credited to, in milliseconds: 30 days.
    public static let waitMilliseconds: Int64 = 30 * 86_400_000

    /// Returns whether an event of this time may be credited to the match.
    public func mayCredit(eventAt time: Timestamp) -> Bool {
        matchedAt.milliseconds(since: time) <= Self.waitMilliseconds
    }
}

/// Something that happened in an app after its installation, such as a purchase.
public struct AppEvent: Equatable, Sendable {
    /// The id that the sender gave the event; a second event of the app with the same id is a duplicate.
    public let id: String
    public let name: EventName
    public var occurredAt: Timestamp
    /// The hashes of the installation under each server key, the current key first; empty without an installation.
    public var installs: [KeyedHash] = []
    /// The hashes of the sender's own id for the user, in the same order as ``installs``.
    public var users: [KeyedHash] = []
    public var click: ClickID?
    public var money: Money?
    /// The id of the purchase that a refund returns; nil for any other event.
    public var purchase: String?
    /// A flat JSON object.
    public var properties: String?

    public init(id: String, name: EventName, occurredAt: Timestamp) {
        (self.id, self.name, self.occurredAt) = (id, name, occurredAt)
    }

    /// Whether a refund may name the event as its purchase.
    public var isRefundable: Bool { purchase == nil && (money != nil || name == .purchase) }

    /// A repeated id is a duplicate within this many milliseconds: 30 days.
    public static let uniqueMilliseconds: Int64 = 30 * 86_400_000
    /// The largest length of an id of an event or a purchase, in bytes.
    public static let maximumIDLength = 128
    /// The largest length of an id of a user, in characters.
    public static let maximumUserLength = 128
    /// The largest length of the properties as a JSON text, in bytes.
    public static let maximumPropertiesLength = 4096
}

/// The events of one request.
public struct EventBatch: Sendable {
    public let app: AppID
    public let isTest: Bool
    /// Whether a server key sent the events, so that their revenue is verified.
    public let isVerified: Bool
    public let receivedAt: Timestamp
    public let events: [AppEvent]

    public static let maximumCount = 100

    public init(app: AppID, isTest: Bool, isVerified: Bool, receivedAt: Timestamp, events: [AppEvent]) {
        (self.app, self.isTest, self.isVerified) = (app, isTest, isVerified)
        (self.receivedAt, self.events) = (receivedAt, events)
    }
}

/// What became of an event that was sent.
public enum EventOutcome: Equatable, Sendable {
    case accepted
    /// An event of the same app and traffic that was received in the last 30 days has the same id.
    ///
    /// An event of a server key is no duplicate of an app key's event: it replaces that event.
    case duplicate
    case rejected(RefundProblem)
}

/// Why a refund is not stored.
public enum RefundProblem: Equatable, Sendable {
    /// The refund names another refund as its purchase.
    case ofRefund
    /// The purchase has this currency, and the refund has another one.
    case currency(Currency)
    /// The purchase has this amount, and the refund has a larger one.
    case amount(Money)
    /// The refund has no amount, and its purchase is unknown, so no amount can be taken from it.
    case unknownAmount
}

/// The store of events.
public protocol EventStore {
    /// Stores events, and returns the outcome of each.
    ///
    /// The events are on disk when this function returns.
    func record(_ batch: EventBatch) async throws(StoreError) -> [EventOutcome]

    /// Returns the sums of events and revenue of a query.
    func events(_ query: EventQuery) async throws(StoreError) -> EventReport

    /// Returns the sums of campaigns or links, by their names; omits those without events.
    ///
    /// The sums contain the events of the query's app, time span and traffic.
    func eventSums(of groups: EventGroups, _ query: EventQuery) async throws(StoreError) -> [String:
        EventSums]
}
