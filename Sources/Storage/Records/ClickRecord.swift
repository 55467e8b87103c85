public import Attribution

/// A row of `clicks`.
public struct ClickRecord: Record, Equatable, Sendable {
    public let id: ClickID
    public let scope: Scope
    /// The facts without the app and the link, which ``click(of:link:)`` adds.
    public let facts: Click.Facts
    public let expiresAt: Timestamp
    public let visit: KeyedHash
    public let post: KeyedHash
    public let idempotency: KeyedHash?
    /// The hashes that find the click: its fingerprints in their order, and then its advertising ids.
    public let hashes: [KeyedHash]
    /// The canonical values of the click's signals as text; nil for a click without values.
    public let canonicalText: String?
    public let address: AddressHashes?
    public let visitor: UInt64?
    /// The number of the link that was tapped.
    public let link: Int64?

    public init(_ click: NewClick, id: ClickID, scope: Scope, hashes: [KeyedHash], link: Int64?) {
        (self.id, self.scope) = (id, scope)
        facts = click.facts
        expiresAt = click.facts.expiresAt
        visit = click.visit
        post = click.post
        idempotency = click.idempotency
        self.hashes = hashes
        canonicalText = click.evidence.canonicalText
        address = click.evidence.address
        visitor = click.evidence.visitor
        self.link = link
    }

    /// Returns the click, with the app and the link that the row's numbers refer to.
    public func click(of app: AppID, link: LinkID?) -> Click {
        var facts = facts
        facts.app = app
        facts.link = link
        return Click(id: id, facts: facts)
    }

    /// Returns the hashes in a column of bytes.
    public static func unpackedHashes(_ bytes: [UInt8]) -> [KeyedHash] { bytes.unpackedHashes }

    /// The click's number, which other tables refer to.
    public var number: Int64 { Int64(bitPattern: id.high) }

    /// Whether the visitor asked not to be tracked: the click is counted and never matched, not even by its identifier.
    public var isCounted: Bool { canonicalText.flatMap { ClickBasis(suffixOf: $0) } == .counted }
}

extension ClickRecord {
    public static let columns: Columns = [
        "id", "id_low", "scope", "clicked_at", "recorded_at", "window_seconds", "expires_at", "destination",
        "campaign_key", "journey_id", "source", "raw_source", "platform", "os_version", "metadata",
        "is_robot",
        "is_contradictory", "visit", "visit_rest", "post", "post_rest", "idempotency", "idempotency_rest",
        "fingerprints", "signals", "exact_address", "near_address", "browser", "visitor", "link", "variant",
        "click_ids",
    ]

    public func write(to row: inout some RowWriter) {
        row.put("id", id.high)
        row.put("id_low", id.low)
        row.put("scope", scope.number)
        row.put("clicked_at", facts.clickedAt)
        row.put("recorded_at", facts.recordedAt)
        row.put("window_seconds", facts.window.seconds)
        row.put("expires_at", expiresAt)
        row.put("destination", facts.destination.text)
        row.put("campaign_key", facts.campaignKey?.text)
        row.put("journey_id", facts.journeyID.text)
        row.put("source", facts.source)
        row.put("raw_source", facts.rawSource)
        row.put("platform", facts.platform)
        row.put("os_version", facts.osVersion)
        row.put("metadata", facts.metadata)
        row.put("is_robot", facts.isRobot)
        row.put("is_contradictory", facts.isContradictory)
        row.put("visit", "visit_rest", visit)
        row.put("post", "post_rest", post)
        row.put("idempotency", "idempotency_rest", idempotency)
        row.put("fingerprints", [UInt8](packing: hashes))
        row.put("signals", canonicalText)
        row.put("exact_address", "near_address", address)
        row.put("browser", facts.browser)
        row.put("visitor", visitor)
        row.put("link", link)
        row.put("variant", facts.variant)
        row.put("click_ids", facts.clickIDs)
    }

    public init?(_ row: inout some RowReader) {
        id = ClickID(high: row.get("id"), low: row.get("id_low"))
        scope = Scope(number: row.get("scope"))
        let clickedAt: Timestamp = row.get("clicked_at")
        let recordedAt: Timestamp = row.get("recorded_at")
        let window = AttributionWindow(seconds: row.get("window_seconds"))
        expiresAt = row.get("expires_at")
        let destination = DeepLinkURL(stored: row.get("destination"))
        let campaignKey = (row.get("campaign_key") as String?).flatMap { CampaignKey($0) }
        guard let window, let journeyID = JourneyID(row.get("journey_id")) else { return nil }
        var facts = Click.Facts(
            app: AppID(high: 0, low: 0),
            destination: destination,
            campaignKey: campaignKey,
            journeyID: journeyID,
            clickedAt: clickedAt,
            recordedAt: recordedAt,
            window: window
        )
        facts.isTest = scope.isTest
        guard let source: SourceToken = row.get("source") else { return nil }
        facts.source = source
        facts.rawSource = row.get("raw_source")
        guard let platform: Platform = row.get("platform") else { return nil }
        facts.platform = platform
        facts.osVersion = row.get("os_version")
        facts.metadata = row.get("metadata")
        facts.isRobot = row.get("is_robot")
        facts.isContradictory = row.get("is_contradictory")
        visit = row.get("visit", "visit_rest")
        post = row.get("post", "post_rest")
        idempotency = row.get("idempotency", "idempotency_rest")
        hashes = (row.get("fingerprints") as [UInt8]).unpackedHashes
        canonicalText = row.get("signals")
        address = row.get("exact_address", "near_address")
        facts.browser = row.get("browser") ?? .unknown
        visitor = row.get("visitor")
        link = row.get("link")
        facts.variant = row.get("variant")
        facts.clickIDs = row.get("click_ids")
        self.facts = facts
    }
}
