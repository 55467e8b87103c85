internal import Attribution
internal import HTTPServer
internal import JSON

/// The body of a click's request, with the type and length of every member validated.
///
/// Unlisted members are ignored; `null` and an empty text count as not sent. ``ClickReading/facts``, below, has the values
/// that the store writes.
struct ClickBody {
    var app: String?
    var fingerprint: Fingerprint?
    var signals: DeviceSignals?
    var deepLinkURL: String?
    /// The link's slug, or the part of a long link's address after its host.
    var link: String?
    /// The name of the variant that the link's page has shown.
    var variant: String?
    /// The query of the tapped address, without its question mark.
    var query: String?
    var campaignKey: CampaignKey?
    var journeyID: JourneyID?
    var clickedAt: Timestamp?
    var userAgent: String?
    var address: NetworkAddress?
    var referer: String?
    var window: AttributionWindow?
    var platform: Platform?
    var source: String?
    var utmSource: String?
    /// The UTM parameters of the member `utm`, under their whole names.
    var utm: [QueryItem] = []
    var metadata: String?
    var idempotencyKey: String?
    /// False if the visitor does not want to be tracked; nil if the body does not state it.
    var hasConsent: Bool?
    /// Whether the click is recorded from the visitor's request for the store, because the page ran no script.
    var isRequestAlone = false
    /// The ids that an ad network put on the link, at most one of each kind; texts that are no id, such as unfilled
    /// placeholders, are left out.
    var advertisingIDs: [AdvertisingID] = []
    /// The click ids of ad networks in the body's member `click_ids`; ids in the query are not included.
    var clickIDs = NetworkClickIDs()

    static let maximumMetadataByteCount = 8 * 1024
    static let maximumTextLength = 2048
    /// The limit of a long link's address in characters, which equals the standard limit of a request target.
    private static let maximumLinkLength = 8192
    private static let maximumNameLength = 255

    /// Creates the body of a click on a link whose page ran no script.
    init(ofRequestFor link: TappedLink, variant: Link.Variant?, query: String?) {
        self.link = link.name
        self.variant = variant?.name
        self.query = query
        isRequestAlone = true
    }

    init(_ request: Request) throws(APIError) {
        let body = try JSONBody(request, accepting: ["application/json", "text/plain"])
        app = try body.text("app", Self.maximumNameLength)
        fingerprint = try body.fingerprint()
        signals = try body.object("signals").map(SignalsBody.browser)
        deepLinkURL = try body.text("deeplink_url", .max)
        link = try body.text("link", Self.maximumLinkLength)
        variant = try body.text("variant", Self.maximumNameLength)
        // The query may be as long as a request target: a page that cuts the query would change a click id at
        // the query's end.
        query = try body.text("query", Self.maximumLinkLength).map {
            $0.utf8.first == UInt8(ascii: "?") ? String($0.dropFirst()) : $0
        }
        campaignKey = try body.text("campaign_key", CampaignKey.maximumLength).flatMap { CampaignKey($0) }
        journeyID = try body.text("jid", JourneyID.maximumLength).flatMap { JourneyID($0) }
        clickedAt = try body.time("click_timestamp")
        userAgent = try body.text("user_agent", Self.maximumTextLength)
        address = try body.address()
        referer = try body.text("referer", Self.maximumTextLength)
        window = try body.window()
        platform = try body.platform()
        source = try body.text("source", Self.maximumNameLength)
        idempotencyKey = try body.text("idempotency_key", Self.maximumNameLength)
        hasConsent = try body.flag("consent")
        for kind in AdvertisingID.Kind.allCases {
            guard let text = try body.text(kind.rawValue, Self.maximumNameLength) else { continue }
            if let id = AdvertisingID(text, as: kind) { advertisingIDs.append(id) }
        }
        try readClickIDs(body)
        try readMetadata(body)
    }

    private mutating func readClickIDs(_ body: JSONBody) throws(APIError) {
        guard let object = try body.object("click_ids") else { return }
        for name in object.members.members.map(\.name) {
            guard let parameter = NetworkClickIDs.parameter(named: name) else { continue }
            guard let value = try object.text(name, .max) else { continue }
            do throws(NetworkClickIDs.Problem) {
                try clickIDs.add(value, of: parameter)
            } catch {
                switch error {
                case .tooLong:
                    let rule = "may have \(NetworkClickIDs.maximumByteCount) bytes at most"
                    throw .invalidField("click_ids.\(parameter.name)", rule)
                case .tooMany:
                    throw .invalidField("click_ids", "may have \(NetworkClickIDs.maximumCount) ids at most")
                }
            }
        }
    }

    private mutating func readMetadata(_ body: JSONBody) throws(APIError) {
        let utm = try body.object("utm")
        if let utm {
            let whole = try utm.text("utm_source", Self.maximumTextLength)
            let short = try utm.text("source", Self.maximumTextLength)
            utmSource = whole ?? short
            self.utm = LinkMetadata.utmNames.compactMap { name in
                let texts = [name, String(name.dropFirst("utm_".count))].compactMap(utm.anyText)
                return texts.first { !$0.isEmpty }.map { QueryItem(name: name, value: $0) }
            }
        }
        guard let object = try body.object("metadata") else { return }
        let text = object.source
        guard text.utf8.count <= Self.maximumMetadataByteCount else {
            throw .invalidField("metadata", "may have \(Self.maximumMetadataByteCount) bytes at most")
        }
        metadata = text
        // Metadata may be any JSON: only a text counts as the source.
        if utmSource == nil { utmSource = object.anyText("utm_source") }
    }
}

/// The facts to store, most of which the body states.
extension ClickReading {
    var facts: Click.Facts {
        let link = destination.link
        var signals = SourceSignals(linkItems: destination.sourceItems + body.clickIDs.items)
        signals.source = body.source
        signals.utmSource = body.utmSource ?? link?.settings.utm.first { $0.name == "utm_source" }?.value
        signals.referer = referer
        signals.userAgent = provenance.userAgent
        let source = signals.reading
        var facts = Click.Facts(
            app: app.id,
            destination: destination.url,
            campaignKey: campaignKey,
            journeyID: body.journeyID ?? link?.settings.journeyID
                ?? JourneyID(at: exchange.now, random: exchange.service.random),
            clickedAt: provenance.clickedAt,
            recordedAt: exchange.now,
            window: provenance.window
        )
        facts.isTest = isTest
        facts.source = source.token
        facts.rawSource = source.raw
        facts.platform = device.platform
        facts.osVersion = device.osVersion
        facts.browser = Browser(userAgent: provenance.userAgent)
        facts.clickIDs = clickIDs
        facts.metadata = LinkMetadata.adding(
            (link?.settings.utm ?? []) + body.utm + destination.query,
            to: link.map { LinkMetadata.merged(body.metadata, $0.settings) } ?? body.metadata
        )
        facts.isRobot = device.isRobot
        facts.isContradictory = device.isContradictory
        facts.link = link?.id
        facts.variant = destination.variant?.name
        return facts
    }

    /// The click ids of ad networks in the body, the tapped address and the deep link, as JSON; nil if there are none,
    /// or if they must not be kept.
    private var clickIDs: String? {
        guard app.settings.clickIDs != .off, !isCounted else { return nil }
        var ids = body.clickIDs
        ids.add(from: destination.query)
        ids.add(from: destination.urlItems)
        return ClickIDsBody.json(ids)
    }

    /// The page that the visitor came from, as the body states it, or else the browser's `Referer`; nil if unknown.
    ///
    /// A link's own landing page sends its own address as the referer. The visitor did not come from that page, so this
    /// address is left out.
    private var referer: String? {
        guard body.referer == nil, let sent = exchange.request.field("referer") else { return body.referer }
        guard destination.link != nil, let host = LinkHost(SourceToken.host(in: sent)) else { return sent }
        return host == exchange.host || app.settings.links.hosts.contains(host) ? nil : sent
    }
}
