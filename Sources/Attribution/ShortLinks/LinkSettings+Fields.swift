/// The meaning of a link's fields, and the way back.
extension Link.Settings {
    public static let maximumTitleLength = 255
    public static let maximumMetadataByteCount = 8 * 1024
    static let maximumUTMLength = 255
    static let maximumVariantCount = 20
    static let maximumTagCount = 50
    static let maximumParameterCount = 20

    /// Reads fields of a link that passed the checks before, as a store gives them back.
    ///
    /// What cannot be read any more counts as not set.
    public init(stored fields: LinkFields) {
        (self, _) = Self.read(fields)
    }

    /// Reads fields from outside.
    ///
    /// Whether the app allows what they say is for ``problems(for:at:)`` to tell.
    ///
    /// - Throws: ``FieldProblems``, all there are.
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
        settings.expiresAt = reader.moment(.expiresAt)
        settings.maximumClicks = reader.number(.maximumClicks, in: 1...1_000_000_000)
        settings.variants = reader.variants()
        settings.referralCode = reader.word(.referralCode)
        settings.preview.title = reader.text(.previewTitle, upTo: Link.Preview.maximumTextLength)
        settings.preview.description = reader.text(.previewDescription, upTo: Link.Preview.maximumTextLength)
        settings.preview.image = reader.page(.previewImage)
        settings.usesPasteboard = reader.flag(.pasteboard) ?? false
        settings.passedParameters = reader.list(.passedParameters, maximumCount: maximumParameterCount)
        settings.tags = reader.list(.tags, maximumCount: maximumTagCount)
        settings.qr = reader.qrLook()
        return (settings, reader.problems)
    }

    /// What is set, as texts that ``init(_:)`` reads.
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
        for item in utm {
            if let field = LinkField(rawValue: item.name) { fields.set(field, item.value) }
        }
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
    /// As an operator writes it.
    public var text: String {
        switch self {
        case .url(let url): url.text
        case .path(let path): path.text
        }
    }
}

extension Link.Preview {
    /// What previews show of a title or a description before they cut it.
    public static let maximumTextLength = 250
}
