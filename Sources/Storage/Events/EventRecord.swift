public import Attribution

/// A row of `attributed_installs`: a match with an installation id, to which the installation's events are credited.
public struct AttributedInstall: Record, Equatable, Sendable {
    public let attribution: EventAttribution
    public let scope: Scope
    /// Nil for a match without an installation id; such a match is stored once an event names its click.
    public var install: KeyedHash?
    /// 0…1; nil for an old claim that was stored without it.
    public let confidence: Double?
    public let isGuaranteed: Bool
    public let clickedAt: Timestamp
    /// The click ids of ad networks that are stored with the click.
    public let clickIDs: String?

    init(_ claim: Claim, _ scope: Scope, install: KeyedHash?) {
        let facts = claim.click.facts
        attribution = EventAttribution(
            click: claim.click.id,
            campaign: facts.campaignKey?.text,
            source: facts.source,
            link: facts.link,
            variant: facts.variant,
            method: claim.method,
            matchedAt: claim.claimedAt
        )
        (self.scope, self.install) = (scope, install)
        (confidence, isGuaranteed) = (claim.confidence, claim.isGuaranteed)
        (clickedAt, clickIDs) = (facts.clickedAt, facts.clickIDs)
    }

    /// The click's number.
    public var number: Int64 { Int64(bitPattern: attribution.click.high) }

    public static let columns: Columns =
        ["scope", "install", "install_rest"] + EventAttribution.columns + [
            "confidence", "is_guaranteed", "clicked_at", "click_ids",
        ]

    public func write(to row: inout some RowWriter) {
        row.put("scope", scope.number)
        row.put("install", "install_rest", install)
        EventAttribution.write(attribution, to: &row)
        row.put("confidence", confidence)
        row.put("is_guaranteed", isGuaranteed)
        row.put("clicked_at", clickedAt)
        row.put("click_ids", clickIDs)
    }

    public init?(_ row: inout some RowReader) {
        scope = Scope(number: row.get("scope"))
        install = row.get("install", "install_rest")
        let attribution = EventAttribution(&row)
        confidence = row.get("confidence")
        isGuaranteed = row.get("is_guaranteed")
        clickedAt = row.get("clicked_at")
        clickIDs = row.get("click_ids")
        guard let attribution else { return nil }
        self.attribution = attribution
    }
}

/// Which key sent an event, and how its revenue counts.
enum EventOrigin: Int64, Sendable {
    case app = 0
    case server = 1
    /// A server key's refund of an app key's purchase, which reduces the reported revenue.
    case serverRefundOfApp = 2
}

/// The match that the events of a user inherit.
struct UserLink {
    let attribution: EventAttribution
    /// Whether an event of a server key has named the user together with the match.
    let isVerified: Bool

    init(_ attribution: EventAttribution, isVerified: Bool) {
        (self.attribution, self.isVerified) = (attribution, isVerified)
    }
}

/// A row of `events`.
public struct EventRecord: Record, Equatable, Sendable {
    /// The position among all events: milliseconds and a counter, as in the numbers of checks.
    public let number: Int64
    public let scope: Scope
    public private(set) var eventID: String
    public let name: String
    public let occurredAt: Timestamp
    public let receivedAt: Timestamp
    private(set) var origin: EventOrigin
    public private(set) var money: Money?
    public let purchase: String?
    public let properties: String?
    public private(set) var install: KeyedHash?
    public private(set) var user: KeyedHash?
    /// The click that the sender named.
    public private(set) var namedClick: ClickID?
    /// Nil as long as the event waits for a match.
    public var attribution: EventAttribution?

    init(_ event: AppEvent, number: Int64, of batch: EventBatch, _ scope: Scope) {
        (self.number, self.scope) = (number, scope)
        (eventID, name, occurredAt) = (event.id, event.name.text, event.occurredAt)
        (receivedAt, origin) = (batch.receivedAt, batch.isVerified ? .server : .app)
        (money, purchase, properties) = (event.money, event.purchase, event.properties)
        (install, user, namedClick) = (event.installs.first, event.users.first, event.click)
    }

    /// Whether the revenue counts as verified.
    public var isVerified: Bool { origin == .server }

    /// Whether the event itself names an installation or a click.
    var namesMatch: Bool { install != nil || namedClick != nil }

    /// Returns whether the event may inherit the match of its user.
    ///
    /// Anyone can send an app key's event. So if only such an event has linked a match to the user, a server key's
    /// event that names an installation or a click does not inherit the match.
    func mayInherit(_ link: UserLink) -> Bool { link.isVerified || origin == .app || !namesMatch }

    /// Removes the installation and the click that the event names, so that the event links its user to no match.
    mutating func removeMatch() { (install, namedClick) = (nil, nil) }

    /// Returns why the event is rejected as a refund; nil if it is a valid refund, or no refund.
    ///
    /// `purchase` is the refunded purchase; nil if it is unknown.
    func problem(with purchase: EventRecord?) -> RefundProblem? {
        guard self.purchase != nil else { return nil }
        guard let purchase else { return money == nil ? .unknownAmount : nil }
        guard purchase.purchase == nil else { return .ofRefund }
        guard let money, let paid = purchase.money else { return nil }
        guard money.currency == paid.currency else { return .currency(paid.currency) }
        return -money.amount > paid.amount ? .amount(paid) : nil
    }

    /// Makes the event the refund of a stored purchase; an event without an amount refunds the whole purchase.
    mutating func refund(_ purchase: EventRecord) {
        money = money ?? purchase.money.map { Money(-$0.amount, $0.currency) }
        if origin == .server, purchase.origin == .app { origin = .serverRefundOfApp }
        inherit(from: purchase)
    }

    /// Gives a refund the attribution of its purchase, and the installation, user and click too if the refund names
    /// none.
    mutating func inherit(from purchase: EventRecord) {
        attribution = purchase.attribution
        guard install == nil, user == nil, namedClick == nil else { return }
        (install, user, namedClick) = (purchase.install, purchase.user, purchase.namedClick)
    }

    public static let columns: Columns =
        [
            "number", "scope", "event_id", "name", "occurred_at", "received_at", "is_verified", "amount",
            "currency", "purchase", "properties", "install", "install_rest", "user_hash", "user_rest",
            "named_click", "named_low",
        ] + EventAttribution.columns

    public func write(to row: inout some RowWriter) {
        row.put("number", UInt64(bitPattern: number))
        row.put("scope", scope.number)
        row.put("event_id", eventID)
        row.put("name", name)
        row.put("occurred_at", occurredAt)
        row.put("received_at", receivedAt)
        row.put("is_verified", origin)
        row.put("amount", money?.amount)
        row.put("currency", money?.currency.code)
        row.put("purchase", purchase)
        row.put("properties", properties)
        row.put("install", "install_rest", install)
        row.put("user_hash", "user_rest", user)
        row.put("named_click", namedClick?.high)
        row.put("named_low", namedClick?.low)
        EventAttribution.write(attribution, to: &row)
    }

    public init?(_ row: inout some RowReader) {
        number = row.get("number")
        scope = Scope(number: row.get("scope"))
        eventID = row.get("event_id")
        name = row.get("name")
        occurredAt = row.get("occurred_at")
        receivedAt = row.get("received_at")
        origin = EventOrigin(rawValue: row.get("is_verified")) ?? .app
        let (amount, code): (Int64?, String?) = (row.get("amount"), row.get("currency"))
        money = amount.flatMap { amount in code.flatMap { Currency($0) }.map { Money(amount, $0) } }
        purchase = row.get("purchase")
        properties = row.get("properties")
        install = row.get("install", "install_rest")
        user = row.get("user_hash", "user_rest")
        let (high, low): (UInt64?, UInt64) = (row.get("named_click"), row.get("named_low"))
        namedClick = high.map { ClickID(high: $0, low: low) }
        attribution = EventAttribution(&row)
    }

    /// Returns the values of the event's row in an export of `events`.
    func exportValues(of app: AppID) -> [ExportValue] {
        [
            .text(sentID), .text(app.text), .flag(scope.isTest), .text(name), .time(occurredAt),
            .time(receivedAt), .flag(isVerified), .decimal(money?.text), .text(money?.currency.code),
            .text(purchase), .text(properties), .text(attribution?.click.text), .text(attribution?.campaign),
            .text(attribution?.source.rawValue), .text(attribution?.link?.text), .text(attribution?.variant),
            .text(attribution?.method.rawValue), .time(attribution?.matchedAt),
        ]
    }

    /// The id that the sender gave the event; the stored one has a suffix once another event may use the id again.
    var sentID: String { eventID.split(separator: Self.formerSeparator).first.map(String.init) ?? eventID }

    /// The event with ``sentID``, as people see it.
    var asSent: EventRecord {
        var event = self
        event.eventID = sentID
        return event
    }

    /// Separates an event's released id from its number; no id contains it.
    public static let formerSeparator: Character = "\u{1F}"
}

/// The columns of an attribution, which are NULL without one.
extension EventAttribution {
    static let columns: Columns = [
        "click", "click_low", "campaign", "source", "link", "variant", "method", "matched_at",
    ]

    static func write(_ attribution: EventAttribution?, to row: inout some RowWriter) {
        row.put("click", attribution?.click.high)
        row.put("click_low", attribution?.click.low)
        row.put("campaign", attribution?.campaign)
        row.put("source", attribution?.source)
        row.put("link", attribution?.link?.text)
        row.put("variant", attribution?.variant)
        row.put("method", attribution?.method)
        row.put("matched_at", attribution?.matchedAt)
    }

    init?(_ row: inout some RowReader) {
        let (high, low): (UInt64?, UInt64) = (row.get("click"), row.get("click_low"))
        let campaign: String? = row.get("campaign")
        let source: SourceToken? = row.get("source")
        let (link, variant): (String?, String?) = (row.get("link"), row.get("variant"))
        let method: AttributionMethod? = row.get("method")
        let matchedAt: Timestamp? = row.get("matched_at")
        guard let high, let method, let matchedAt else { return nil }
        self.init(
            click: ClickID(high: high, low: low),
            campaign: campaign,
            source: source ?? .unknown,
            link: link.flatMap { LinkID($0) },
            variant: variant,
            method: method,
            matchedAt: matchedAt
        )
    }
}
