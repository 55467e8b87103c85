public import Attribution

/// A row of `attributed_installs`: a match with an installation id, from which the installation's events inherit.
public struct AttributedInstall: Record, Equatable, Sendable {
    public let attribution: EventAttribution
    public let scope: Scope
    /// Nil for a match without an installation id, which is stored once an event names its click.
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

/// A row of `events`.
public struct EventRecord: Record, Equatable, Sendable {
    /// The position among all events: milliseconds and a counter, as in the numbers of checks.
    public let number: Int64
    public let scope: Scope
    public let eventID: String
    public let name: String
    public let occurredAt: Timestamp
    public let receivedAt: Timestamp
    public let isVerified: Bool
    public let money: Money?
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
        (receivedAt, isVerified) = (batch.receivedAt, batch.isVerified)
        (money, purchase, properties) = (event.money, event.purchase, event.properties)
        (install, user, namedClick) = (event.installs.first, event.users.first, event.click)
    }

    /// Gives a refund the attribution of its purchase, and the installation, user and click too if the refund names
    /// none.
    mutating func inherit(from purchase: EventRecord) {
        attribution = attribution ?? purchase.attribution
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
        row.put("number", number)
        row.put("scope", scope.number)
        row.put("event_id", eventID)
        row.put("name", name)
        row.put("occurred_at", occurredAt)
        row.put("received_at", receivedAt)
        row.put("is_verified", isVerified)
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
        isVerified = row.get("is_verified")
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

    /// Returns the values of the event as a row of `events` of an export.
    func exportValues(of app: AppID) -> [ExportValue] {
        // The id of an event has a suffix once another event may use the id again.
        let id = eventID.split(separator: Self.formerSeparator).first.map(String.init) ?? eventID
        return [
            .text(id), .text(app.text), .flag(scope.isTest), .text(name), .time(occurredAt),
            .time(receivedAt), .flag(isVerified), .decimal(money?.text), .text(money?.currency.code),
            .text(purchase), .text(properties), .text(attribution?.click.text), .text(attribution?.campaign),
            .text(attribution?.source.rawValue), .text(attribution?.link?.text), .text(attribution?.variant),
            .text(attribution?.method.rawValue), .time(attribution?.matchedAt),
        ]
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
