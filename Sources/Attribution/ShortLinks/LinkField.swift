/// The settings of a link, under their names on the wire, in files and in the database.
///
/// Only ``Link/Settings`` interprets their texts.
public enum LinkField: String, SettingField {
    /// The title by which operators find the link; visitors never see it.
    case title
    /// A deep link for all platforms, or a path such as `/products/1` that follows each app scheme.
    case destination
    case iosDestination = "ios_destination"
    case androidDestination = "android_destination"
    /// The page for desktop browsers instead of the landing page with its QR code.
    case desktopURL = "desktop_url"
    /// The page that iOS browsers open instead of the store; the next two are for Android and for Huawei.
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
    /// A JSON object whose members the app gets unchanged.
    case metadata
    /// One journey id for all clicks; if it is missing, each click gets its own.
    case journeyID = "jid"
    case windowSeconds = "attribution_window_seconds"
    case expiresAt = "expires_at"
    case maximumClicks = "maximum_clicks"
    /// Weighted destinations; each text is `<name> <weight> <deep link or path>`.
    case variants
    case referralCode = "referral_code"
    case previewTitle = "preview_title"
    case previewDescription = "preview_description"
    case previewImage = "preview_image"
    /// Whether the landing page may put the link with its token on the pasteboard, on the visitor's tap.
    case pasteboard
    /// Names of query parameters that are passed on to the destination.
    case passedParameters = "pass_parameters"
    case tags
    /// A colour as `#rrggbb`; the background has the same form.
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

public typealias LinkFields = FieldTexts<LinkField>

extension Link.Settings {
    public static let maximumTitleLength = 255
    public static let maximumMetadataByteCount = 8 * 1024
    static let maximumUTMLength = 255
    static let maximumVariantCount = 20
    static let maximumTagCount = 50
    static let maximumParameterCount = 20

    /// Reads a link's stored fields, which were valid when they were set.
    ///
    /// A text that is no longer valid is ignored.
    public init(stored fields: LinkFields) { (self, _) = Self.read(fields) }

    /// Reads and validates the fields of a request, a file or a command.
    ///
    /// ``problems(for:at:)`` then shows whether the app allows the link.
    ///
    /// - Throws: ``FieldProblems`` with all problems of the fields.
    public init(_ fields: LinkFields) throws(FieldProblems) {
        let (settings, problems) = Self.read(fields)
        guard problems.isEmpty else { throw FieldProblems(problems) }
        self = settings
    }

    private static func read(_ fields: LinkFields) -> (Link.Settings, [FieldProblem]) {
        var reader = FieldReader(fields)
        var settings = Link.Settings()
        settings.title = reader.text(.title, upTo: maximumTitleLength)
        settings.target = reader.target(.destination)
        settings.iosTarget = reader.target(.iosDestination)
        settings.androidTarget = reader.target(.androidDestination)
        settings.fallbacks.ios = reader.page(.iosFallback)
        settings.fallbacks.android = reader.page(.androidFallback)
        settings.fallbacks.huawei = reader.page(.huaweiFallback)
        settings.fallbacks.desktop = reader.page(.desktopURL)
        settings.campaignKey = reader.text(.campaignKey, upTo: CampaignKey.maximumLength).flatMap {
            CampaignKey($0)
        }
        settings.source = reader.text(.source, upTo: SourceSignals.maximumRawLength)
        for field in LinkField.utm {
            guard let value = reader.text(field, upTo: maximumUTMLength) else { continue }
            settings.utm.append(QueryItem(name: field.rawValue, value: value))
        }
        settings.metadata = reader.metadata()
        settings.journeyID = reader.text(.journeyID, upTo: JourneyID.maximumLength).flatMap { JourneyID($0) }
        settings.window = reader.window()
        settings.expiresAt = reader.time(.expiresAt)
        settings.maximumClicks = reader.number(.maximumClicks, in: 1...1_000_000_000)
        settings.variants = reader.variants()
        settings.referralCode = reader.word(.referralCode)
        settings.preview.title = reader.text(.previewTitle, upTo: Link.Preview.maximumTextLength)
        settings.preview.description = reader.text(.previewDescription, upTo: Link.Preview.maximumTextLength)
        settings.preview.image = reader.page(.previewImage)
        settings.usesPasteboard = reader.flag(.pasteboard) ?? false
        settings.passedParameters = reader.list(.passedParameters, maximumCount: maximumParameterCount)
        settings.tags = reader.list(.tags, maximumCount: maximumTagCount)
        settings.qr = reader.qrDefaults()
        return (settings, reader.problems)
    }

    /// The settings that are set, as texts that ``init(_:)`` reads.
    public var fields: LinkFields {
        var fields = LinkFields()
        fields.set(.title, title)
        fields.set(.destination, target?.text)
        fields.set(.iosDestination, iosTarget?.text)
        fields.set(.androidDestination, androidTarget?.text)
        fields.set(.desktopURL, fallbacks.desktop?.text)
        fields.set(.iosFallback, fallbacks.ios?.text)
        fields.set(.androidFallback, fallbacks.android?.text)
        fields.set(.huaweiFallback, fallbacks.huawei?.text)
        fields.set(.campaignKey, campaignKey?.text)
        fields.set(.source, source)
        for item in utm { if let field = LinkField(rawValue: item.name) { fields.set(field, item.value) } }
        fields.set(.metadata, metadata)
        fields.set(.journeyID, journeyID?.text)
        fields.set(.windowSeconds, window.map { String($0.seconds) })
        fields.set(.expiresAt, expiresAt?.iso8601)
        fields.set(.maximumClicks, maximumClicks.map { String($0) })
        fields[.variants] = variants.map { "\($0.name) \($0.weight) \($0.target.text)" }
        fields.set(.referralCode, referralCode)
        fields.set(.previewTitle, preview.title)
        fields.set(.previewDescription, preview.description)
        fields.set(.previewImage, preview.image?.text)
        fields.set(.pasteboard, usesPasteboard ? "true" : nil)
        fields[.passedParameters] = passedParameters
        fields[.tags] = tags
        fields.set(.qrForeground, qr.foreground?.text)
        fields.set(.qrBackground, qr.background?.text)
        fields.set(.qrErrorCorrection, qr.errorCorrection?.rawValue)
        return fields
    }
}

extension LinkField {
    static let utm: [LinkField] = [.utmSource, .utmMedium, .utmCampaign, .utmTerm, .utmContent]
}

extension Link.Target {
    /// The target as an operator writes it.
    public var text: String {
        switch self {
        case .url(let url): url.text
        case .path(let path): path.text
        }
    }
}

extension Link.Preview {
    /// The largest number of characters of a preview's title or description; messengers would cut longer ones.
    public static let maximumTextLength = 250
}

/// Reads the fields that only links have.
extension FieldReader where Field == LinkField {
    mutating func target(_ field: LinkField) -> Link.Target? {
        fields.text(field).flatMap { target($0, of: field) }
    }

    private mutating func target(_ text: String, of field: LinkField) -> Link.Target? {
        do throws(DeepLinkURLError) {
            return try Link.Target(parsing: text)
        } catch {
            report(field, "\(field.rawValue): \(error.message)")
            return nil
        }
    }

    mutating func window() -> AttributionWindow? {
        let allowed = AttributionWindow.allowedSeconds
        return number(.windowSeconds, in: Int(allowed.lowerBound)...Int(allowed.upperBound))
            .flatMap { AttributionWindow(seconds: Int64($0)) }
    }

    mutating func variants() -> [Link.Variant] {
        var variants: [Link.Variant] = []
        for text in fields[.variants] {
            let parts = text.trimmed.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
            guard parts.count == 3, Self.isWord(String(parts[0]), upTo: 32),
                let weight = Self.decimal(String(parts[1])), (1...10_000).contains(weight)
            else {
                report(
                    .variants,
                    "A variant is a name, a weight from 1 to 10000 and a destination, as in \"b 30 myapp://promo/b\"."
                )
                continue
            }
            let name = String(parts[0])
            guard !variants.contains(where: { $0.name == name }) else {
                report(.variants, "Two variants have the name \(name); give each its own.")
                continue
            }
            guard let target = target(String(parts[2]), of: .variants) else { continue }
            variants.append(Link.Variant(name: name, weight: weight, target: target))
            guard variants.count <= Link.Settings.maximumVariantCount else {
                report(
                    .variants,
                    "A link has \(Link.Settings.maximumVariantCount) variants at most; leave some out."
                )
                return []
            }
        }
        return variants
    }

    /// Reads the metadata as text; the caller, which parses JSON, must have verified that the text is a JSON object.
    mutating func metadata() -> String? {
        guard let text = fields.text(.metadata) else { return nil }
        let maximum = Link.Settings.maximumMetadataByteCount
        guard text.utf8.count <= maximum else {
            report(.metadata, "metadata has more than \(maximum) bytes; shorten it.")
            return nil
        }
        return self.text(.metadata, upTo: maximum)
    }

    /// Reads the style of the QR code; reports and ignores colours that scanners cannot distinguish.
    mutating func qrDefaults() -> Link.QRDefaults {
        var style = Link.QRDefaults()
        style.foreground = color(.qrForeground)
        style.background = color(.qrBackground)
        style.errorCorrection = errorCorrection(.qrErrorCorrection)
        do throws(QRColorError) {
            try (style.foreground ?? .black).requireReadable(on: style.background ?? .white)
        } catch {
            report(style.foreground == nil ? .qrBackground : .qrForeground, error.message)
            (style.foreground, style.background) = (nil, nil)
        }
        return style
    }
}

extension Link.Target {
    /// Reads a deep link, or a path, which starts with a slash.
    ///
    /// - Throws: ``DeepLinkURLError`` naming the first rule that the text breaks.
    public init(parsing text: String) throws(DeepLinkURLError) {
        guard text.trimmed.utf8.first == UInt8(ascii: "/") else {
            self = .url(try DeepLinkURL(parsing: text))
            return
        }
        self = .path(try LinkPath(parsing: text))
    }
}
