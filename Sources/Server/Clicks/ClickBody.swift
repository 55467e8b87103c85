internal import Attribution
internal import HTTPServer
internal import JSON

/// The body of a click's request, with the type and length of every member validated.
///
/// Unlisted members are ignored; `null` and an empty text count as not sent. ``ClickReading`` copies values to
/// `Click.Facts`, which the store writes. A new member that is to be stored must be added to all three types.
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
