internal import JSON

/// An event in the outbox; it is stored in the same transaction as the fact that it reports.
public struct OutboxEvent: Equatable, Sendable {
    public let id: OutboxEventID
    /// The raw value of a ``PostbackType``, or one that only a later version of the program knows.
    public let type: String
    /// The event's own members, as a JSON object.
    public let data: String

    public init(id: OutboxEventID, type: String, data: String) {
        (self.id, self.type, self.data) = (id, type, data)
    }

    /// The time of the fact.
    public var at: Timestamp { id.time }

    /// Returns the body of a delivery, the same for every attempt.
    public func body(app: AppID, isTest: Bool, sequence: Int64) -> [UInt8] {
        JSONWriter.object { json in
            json.member("type", type)
            json.member("timestamp", at.iso8601)
            json.member("app", app.text)
            json.member("test", isTest)
            json.member("sequence", sequence)
            json.member("data") { $0.raw(data.utf8) }
        }.bytes
    }
}

/// A fact that events report to endpoints.
public enum PostbackFact: Sendable {
    case match(Claim, CheckFacts, withClickIDs: Bool)
    case click(Click, withClickIDs: Bool)
    /// A launch that no click explains.
    case launch(CheckFacts)
    case event(ReceivedEvent)
    case apple(StoredApplePostback)
    case link(PostbackType, Link)
    case drift(DriftEvent)
    case erasure(Erasure)
    case disabled(PostbackEndpoint)
    /// Any other fact, with its members as a JSON object.
    case other(PostbackType, json: String)

    public var type: PostbackType {
        switch self {
        case .match(let claim, _, _): claim.isCampaignOnly ? .matchCampaignOnly : .matchCreated
        case .click: .clickRecorded
        case .launch: .launchUnmatched
        case .event: .eventReceived
        case .apple: .applePostbackReceived
        case .drift(.began): .driftAlarmStarted
        case .drift(.ended): .driftAlarmEnded
        case .erasure: .erasureCompleted
        case .disabled: .endpointDisabled
        case .link(let type, _), .other(let type, _): type
        }
    }

    /// The members of the event as a JSON object; none is ever an address, a user agent or a fingerprint.
    public var data: String {
        if case .other(_, let text) = self { return text }
        return JSONWriter.object { json in write(to: &json) }.text
    }

    private func write(to json: inout JSONWriter) {
        switch self {
        case .match(let claim, let launch, let withClickIDs):
            // A match of only a campaign identifies no click, so it has neither click nor journey.
            Self.write(claim.click, isIdentified: !claim.isCampaignOnly, withClickIDs, to: &json)
            json.member("method", claim.method.rawValue)
            json.member("confidence", claim.confidence.map { Double(Int($0 * 10_000 + 0.5)) / 10_000 })
            json.member("guaranteed", claim.isGuaranteed)
            json.member("competing_clicks", claim.competingClicks)
            json.member("launch_platform", launch.platform.rawValue)
            json.member("matched_at", claim.claimedAt.iso8601)
            let delay = launch.timeToInstall(since: claim.click.facts.clickedAt)
            json.member("seconds_to_install", delay / 1000)
        case .click(let click, let withClickIDs): Self.write(click, withClickIDs, to: &json)
        case .launch(let launch):
            json.member("reason", launch.reason?.rawValue)
            json.member("platform", launch.platform.rawValue)
            json.member("launched_at", launch.at.iso8601)
            // One record may represent several launches.
            json.member("launches", launch.weight)
        case .event(let event): event.write(to: &json)
        case .apple(let stored):
            json.member("received_at", stored.receivedAt.iso8601)
            json.member("verification", stored.verification.rawValue)
            json.member("environment", stored.environment.rawValue)
            stored.postback.write(to: &json)
        case .link(_, let link):
            json.member("link", link.id.text)
            json.member("slug", link.slug.text)
            json.member("title", link.settings.title)
            json.member("campaign_key", link.settings.campaignKey?.text)
            json.member("created_at", link.createdAt.iso8601)
            json.member("updated_at", link.updatedAt.iso8601)
            json.member("archived_at", link.archivedAt?.iso8601)
        case .drift(let event):
            let alarm =
                switch event {
                case .began(let alarm), .ended(let alarm, _): alarm
                }
            json.member("group", alarm.group.title)
            json.member("usual_rate", alarm.usualRate)
            json.member("text", event.sentence)
        case .erasure(let erasure):
            json.member("erasure", erasure.id.text)
            json.member("kind", erasure.kind.rawValue)
            json.member("erased_at", erasure.at.iso8601)
        case .disabled(let endpoint):
            json.member("endpoint", endpoint.id.text)
            json.member("reason", endpoint.reason)
        case .other: break
        }
    }

    private static func write(
        _ click: Click,
        isIdentified: Bool = true,
        _ withClickIDs: Bool,
        to json: inout JSONWriter
    ) {
        let facts = click.facts
        json.member("campaign_key", facts.campaignKey?.text)
        json.member("source", facts.source.rawValue)
        json.member("platform", facts.platform.rawValue)
        json.member("clicked_at", facts.clickedAt.iso8601)
        guard isIdentified else { return }
        json.member("click_id", click.id.text)
        json.member("link", facts.link?.text)
        json.member("variant", facts.variant)
        json.member("journey_id", facts.journeyID.text)
        let url = withClickIDs ? facts.destination : facts.destination.withoutClickIDs
        json.member("url", url.text)
        let utm = facts.utm
        if !utm.isEmpty {
            json.object("utm") { json in for item in utm { json.member(item.name, item.value) } }
        }
        if withClickIDs, let ids = facts.clickIDs { json.member("click_ids") { $0.raw(ids.utf8) } }
    }
}

/// An app's event, such as a purchase, as `event.received` reports it.
public struct ReceivedEvent: Sendable {
    public var eventID: String
    public var name: String
    public var occurredAt: Timestamp
    /// Whether the event was sent with a server key.
    public var isVerified: Bool
    /// The amount as decimal text, and its currency.
    public var amount: String?
    public var currency: String?
    /// A JSON object.
    public var properties: String?
    /// The click of the match that the event is credited to; nil without a match.
    ///
    /// The next six properties describe the same match, and are nil without a match too.
    public var click: ClickID?
    public var link: LinkID?
    public var campaignKey: String?
    public var source: String?
    public var variant: String?
    public var method: String?
    public var matchedAt: Timestamp?
    /// The click ids of ad networks as a JSON object; nil unless the app's settings permit sending them.
    public var clickIDs: String?

    public init(eventID: String, name: String, occurredAt: Timestamp, isVerified: Bool) {
        (self.eventID, self.name, self.occurredAt, self.isVerified) = (eventID, name, occurredAt, isVerified)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.member("event_id", eventID)
        json.member("name", name)
        json.member("occurred_at", occurredAt.iso8601)
        json.member("verified", isVerified)
        json.member("amount", amount)
        json.member("currency", currency)
        if let properties { json.member("properties") { $0.raw(properties.utf8) } }
        json.member("click_id", click?.text)
        json.member("link", link?.text)
        json.member("campaign_key", campaignKey)
        json.member("source", source)
        json.member("variant", variant)
        json.member("method", method)
        json.member("matched_at", matchedAt?.iso8601)
        if let clickIDs { json.member("click_ids") { $0.raw(clickIDs.utf8) } }
    }
}

extension Click.Facts {
    /// The `utm_…` parameters of the deep link, then the metadata's `utm_…` parameters that the deep link
    /// does not have.
    ///
    /// The server adds a short link's own `utm_…` parameters to the metadata of its clicks.
    fileprivate var utm: [QueryItem] {
        let stated = (metadata.flatMap { try? JSONValue(parsing: Array($0.utf8)) })?.object?.members ?? []
        let isUTM = { (name: String) in name.hasPrefix("utm_") }
        let items =
            destination.queryItems(where: isUTM)
            + stated.compactMap { member in
                isUTM(member.name) ? member.value.string.map { QueryItem(name: member.name, value: $0) } : nil
            }
        var names: Set<String> = []
        return items.filter { names.insert($0.name).inserted }
    }
}
