/// What an operator can say of a link, by its name on the wire, in a file and in the database.
///
/// Every way in and out speaks of a link in these fields, each with its texts: the admin API, the commands, imports,
/// exports and the store. ``Link/Settings/init(_:)`` alone gives them a meaning.
public enum LinkField: String, CaseIterable, Sendable {
    /// For people who look for it; shown to nobody else.
    case title
    /// A deep link for all platforms, or a path such as `/products/1` that each platform's app scheme is put before.
    case destination
    case iosDestination = "ios_destination"
    case androidDestination = "android_destination"
    /// Where a desktop browser is sent instead of a page that hands over to the phone.
    case desktopURL = "desktop_url"
    /// Instead of the stores.
    case iosFallback = "ios_fallback"
    case androidFallback = "android_fallback"
    case huaweiFallback = "huawei_fallback"
    case campaignKey = "campaign_key"
    case source
    case utmSource = "utm_source"
    case utmMedium = "utm_medium"
    case utmCampaign = "utm_campaign"
    case utmTerm = "utm_term"
    case utmContent = "utm_content"
    /// A JSON object that the app gets as it is.
    case metadata
    /// One journey id for all clicks; made for each click where there is none.
    case journeyID = "jid"
    case windowSeconds = "attribution_window_seconds"
    case expiresAt = "expires_at"
    case maximumClicks = "maximum_clicks"
    /// `<name> <weight> <deep link or path>`, one each.
    case variants
    case referralCode = "referral_code"
    case previewTitle = "preview_title"
    case previewDescription = "preview_description"
    case previewImage = "preview_image"
    /// Whether the landing page may put the link with its token on the pasteboard, on the visitor's tap.
    case pasteboard
    /// Names of query parameters that are handed on to the destination.
    case passedParameters = "pass_parameters"
    case tags
    case qrForeground = "qr_foreground"
    case qrBackground = "qr_background"
    case qrErrorCorrection = "qr_error_correction"

    /// Whether it has any number of texts.
    public var isList: Bool {
        switch self {
        case .variants, .passedParameters, .tags: true
        default: false
        }
    }
}

/// The fields of a link as texts: what came in, and what goes out.
public struct LinkFields: Equatable, Sendable {
    private var values: [LinkField: [String]] = [:]

    public init() {}

    /// The texts of a field in their order; empty where it is not set.
    ///
    /// Setting no texts, or empty ones alone, clears it.
    public subscript(field: LinkField) -> [String] {
        get { values[field] ?? [] }
        set {
            let texts = newValue.filter { !$0.isEmpty }
            values[field] = texts.isEmpty ? nil : texts
        }
    }

    /// The only text of a field that is no list; nil where it is not set.
    public func text(_ field: LinkField) -> String? { values[field]?.first }

    public mutating func set(_ field: LinkField, _ text: String?) {
        self[field] = text.map { [$0] } ?? []
    }

    /// The fields that are set, in the order of ``LinkField``.
    public var all: [(field: LinkField, texts: [String])] {
        LinkField.allCases.compactMap { field in values[field].map { (field, $0) } }
    }
}

/// What is wrong with one field of a link.
public struct LinkProblem: Error, Equatable, Sendable {
    /// Nil for the slug.
    public let field: LinkField?
    /// In plain words: what is wrong and what to do.
    public let message: String

    public init(_ field: LinkField?, _ message: String) {
        self.field = field
        self.message = message
    }
}
