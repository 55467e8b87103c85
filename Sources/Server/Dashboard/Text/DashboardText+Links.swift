internal import Attribution

/// The sentences of the pages of links.
extension DashboardText {
    static let links = "Links"
    static let linkCaption = "Clicks, matches and state of each link"
    static let newLink = "New link"
    static let searchLinks = "Slug, title, campaign or destination"
    static let tag = "Tag"
    static let state = "State"
    static let olderLinks = "Older links"
    static let linkHeadings = ["Link", "Title", "Campaign", "Tags", "Clicks", "Matches", "State", "Created"]
    static let archivedChoices = [("false", "Not archived"), ("true", "Archived"), ("any", "Any")]
    static let noLinks =
        "There is no link yet, apart from archived ones. Create one here or with `afterlink links create`;"
        + " `afterlink links import` imports the links of another service."
    static let importLinks = "Import"
    static let importExplained =
        "A command reads the links of a file or of another service, and reports each wrong line. With --check, it creates"
        + " no link."
    static let formerImports = "Imports so far, with the number of links of each"
    static let noLinksOfApp =
        "This app has no link yet, apart from archived ones. Create one here or with `afterlink links create`."
    static let noLinkFound = "No link has these properties. Change the filters above."
    static let noLink =
        "There is no such link. It was deleted, or its id is mistyped; the page Links lists all."
    static let noLinkHost =
        "The link's app has no link host, so its links have no address and no code. Set one with"
        + " `afterlink apps set --link-host go.example.com`."

    static func state(_ ending: Link.Ending?) -> String { ending.map { label($0.rawValue) } ?? "Live" }

    // One link
    static let matchesOfClicks = "Matches of clicks"
    static let robots = "Previews and robots"
    static let address = "Address"
    static let created = "Created"
    static let changed = "Changed"
    static let code = "QR code"
    static let variants = "Variants"
    static let variantHeadings = [
        "Variant", "Share", "Destination", "Clicks", "Matches", "Matches per click (95 %)",
    ]
    static let intervalExplained =
        "The range contains the true rate in 95 of 100 such tests. Variants whose ranges overlap may differ"
        + " by chance alone."
    static func variants(of slug: String) -> String { "Variants of \(slug), all time" }
    static let formerVariant = "Removed from the link; its counts remain"
    static let preview = "Preview in messengers"
    static let visitors: TableText = ["What each visitor gets": ["Visitor"] + LinkEffects.names]
    static let edit = "Edit"
    static let archive = "Archive"
    static let restore = "Restore"
    static let clicksByDay = "Clicks by day"
    static let delete = "Delete…"
    static let deleteForGood = "Delete for good"

    /// Returns a rate with Wilson's 95 % confidence interval, as `12 % (8 % – 17 %)`; a dash without clicks.
    ///
    /// Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
    static func rate(_ matches: Int, of clicks: Int) -> String {
        guard clicks > 0 else { return "–" }
        let (count, rate, z) = (Double(clicks), min(1, Double(matches) / Double(clicks)), 1.96)
        let scale = 1 + z * z / count
        let middle = (rate + z * z / (2 * count)) / scale
        let variance = rate * (1 - rate) / count + z * z / (4 * count * count)
        let spread = z * variance.squareRoot() / scale
        return "\(percent(rate)) (\(range(middle - spread, middle + spread)))"
    }

    static func ended(_ ending: Link.Ending) -> String {
        "This link \(ending.reason), and no longer leads anywhere."
    }

    static func codeOf(_ url: String) -> String { "QR code of \(url)" }
    static func download(_ format: String) -> String { "Download \(format)" }

    static func firstVariant(_ name: String) -> String {
        "The link has variants; this table shows the destination of \(name)."
    }

    static func notDeletable(_ reason: String) -> String { "This link cannot be deleted. \(reason)" }

    // Form
    static let slug = "Slug"
    static let slugHint =
        "The path after the link host, as in summer25 or go/summer25. Empty for a random one."
    static let standard = "Standard"
    static let create = "Create link"
    static let cancel = "Cancel"
    static let notSaved = "The link was not saved. Correct these fields:"
    static func editTitle(_ slug: String) -> String { "Edit \(slug)" }

    /// Returns the label of an input by its name; nil if no input has this name.
    static func labelOfInput(_ name: String) -> String? {
        switch name {
        case "slug": slug
        case "app": app
        default: LinkField(rawValue: name).map { self.name(of: $0) }
        }
    }

    static func name(of field: LinkField) -> String { labels[field] ?? field.rawValue }

    private static let labels = Dictionary(
        linkGroups.flatMap(\.value).map { ($0.field, $0.label) },
        uniquingKeysWith: { first, _ in first }
    )
}

/// The fields of a link's form.
extension DashboardText {
    /// An input: its field, its label, and a hint on how to fill it in; the hint is nil if the label is enough.
    typealias LinkInput = (field: LinkField, label: String, hint: String?)

    static let linkGroups: KeyValuePairs<String, [LinkInput]> = [
        "Name": [(.title, "Title", "Only operators see it."), (.tags, "Tags", "With commas between them.")],
        "Destination in the app": [
            (.destination, "Destination", "A deep link such as myapp://promo, or a path such as /promo."),
            (.iosDestination, "Destination on iOS", "If it differs from the destination."),
            (.androidDestination, "Destination on Android", "If it differs from the destination."),
            (.variants, "Variants", "One on each line: name, weight and destination, as in b 30 /promo/b."),
        ],
        "Pages without the app, instead of the stores": [
            (.desktopURL, "Page for computers", "Empty shows a QR code for the phone."),
            (.iosFallback, "Page for iOS", pageHint), (.androidFallback, "Page for Android", pageHint),
            (.huaweiFallback, "Page for Huawei", pageHint),
        ],
        "Campaign": [
            (.campaignKey, "Campaign key", nil), (.source, "Source", "For example instagram."),
            (.utmSource, "utm_source", nil), (.utmMedium, "utm_medium", nil),
            (.utmCampaign, "utm_campaign", nil), (.utmTerm, "utm_term", nil),
            (.utmContent, "utm_content", nil), (.referralCode, "Referral code", nil),
        ],
        "Limits": [
            (.expiresAt, "Expires (UTC)", "After this time, the link leads nowhere. Empty for no end."),
            (.maximumClicks, "Maximum of clicks", "Empty for any number."),
            (.windowSeconds, "Attribution window in seconds", "Empty for the app's window."),
        ],
        preview: linkPreview,
        "For the app": [
            (.metadata, "Metadata", #"A JSON object for the app, such as {"offer":"summer"}."#),
            (.passedParameters, "Parameters to pass on", "Names of query parameters, such as gclid, fbclid."),
            (.journeyID, "Journey id", "Empty gives each click its own."),
            (.pasteboard, "Use the pasteboard", "On an iPhone, the visitor's tap copies the link there."),
        ],
        "Style of the QR code": [
            (.qrForeground, "Foreground", "Such as #1a2b3c."),
            (.qrBackground, "Background", "Such as #ffffff."),
            (.qrErrorCorrection, "Error correction", "H survives the most damage; the code is larger."),
        ],
    ]

    static let linkPreview: [LinkInput] = [
        (.previewTitle, "Preview title", "Empty shows the app's name."),
        (.previewImage, "Preview picture", "The address of a picture, with https."),
        (.previewDescription, "Preview text", nil),
    ]

    private static let pageHint = "An address with https. Empty leads to the store."
}
