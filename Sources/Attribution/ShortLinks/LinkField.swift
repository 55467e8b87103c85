/// What an operator can say of a link, by its name on the wire, in a file and in the database.
///
/// ``Link/Settings/init(_:)`` alone gives them a meaning.
public enum LinkField: String, SettingField {
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
    /// `#rrggbb`, as is the background.
    case qrForeground = "qr_foreground"
    case qrBackground = "qr_background"
    /// `L`, `M`, `Q` or `H`.
    case qrErrorCorrection = "qr_error_correction"

    public var kind: SettingFieldKind {
        switch self {
        case .windowSeconds, .maximumClicks: .number
        case .pasteboard: .flag
        case .metadata: .object
        case .variants: .variants
        case .passedParameters, .tags: .list
        default: .text
        }
    }
}

/// The fields of a link as texts.
public typealias LinkFields = FieldTexts<LinkField>
