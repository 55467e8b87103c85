/// A Dynamic Link of Firebase by the names of its parameters: those of a long link's query, and of an export's columns.
///
/// Sources: Firebase's documentation, "Manually constructing a Dynamic Link URL" and "Export Dynamic Links metadata".
public struct FirebaseLink: Equatable, Sendable {
    public enum Parameter: String, CaseIterable, Sendable {
        /// What the app is to open.
        case link
        case androidPackage = "apn"
        case androidFallback = "afl"
        case androidMinimumVersion = "amv"
        case iosBundle = "ibi"
        case iosFallback = "ifl"
        case iosScheme = "ius"
        case ipadFallback = "ipfl"
        case ipadBundle = "ipbi"
        case appStoreID = "isi"
        case iosMinimumVersion = "imv"
        /// Whether a page that previews the app is left out.
        case forcedRedirect = "efr"
        case desktopFallback = "ofl"
        case socialTitle = "st"
        case socialDescription = "sd"
        case socialImage = "si"
        case utmSource = "utm_source"
        case utmMedium = "utm_medium"
        case utmCampaign = "utm_campaign"
        case utmTerm = "utm_term"
        case utmContent = "utm_content"
        /// Affiliate token, campaign, media type and provider of Apple's store.
        case affiliate = "at"
        case storeCampaign = "ct"
        case mediaType = "mt"
        case provider = "pt"
    }

    private var texts: [Parameter: String] = [:]

    public init() {}

    /// What is set, as a long link spells it.
    var items: [QueryItem] {
        Parameter.allCases.compactMap { parameter in
            texts[parameter].map { QueryItem(name: parameter.rawValue, value: $0) }
        }
    }

    /// Nil where it is not set; blanks around a text are dropped, and an empty one clears it.
    public subscript(parameter: Parameter) -> String? {
        get { texts[parameter] }
        set {
            let text = newValue?.trimmed ?? ""
            texts[parameter] = text.isEmpty ? nil : text
        }
    }
}

/// What it means here.
extension FirebaseLink {
    /// What has a field of its own.
    private static let fields: [(parameter: Parameter, field: LinkField)] = [
        (.link, .destination), (.androidFallback, .androidFallback), (.iosFallback, .iosFallback),
        (.desktopFallback, .desktopURL), (.socialTitle, .previewTitle),
        (.socialDescription, .previewDescription), (.socialImage, .previewImage), (.utmSource, .utmSource),
        (.utmMedium, .utmMedium), (.utmCampaign, .utmCampaign), (.utmTerm, .utmTerm),
        (.utmContent, .utmContent),
    ]
    private static let storeParameters: [Parameter] = [.provider, .affiliate, .storeCampaign, .mediaType]
    private static let minimumVersions: [Parameter] = [.androidMinimumVersion, .iosMinimumVersion]

    /// The fields of a link of this app that says the same.
    ///
    /// `utm_campaign` is the campaign key too: Firebase had no other. The parameters of Apple's store stand in the
    /// address of the app's page there, and the minimum versions in the metadata, for the app to judge.
    public func fields(of app: AppLinks) -> LinkFields {
        var fields = LinkFields()
        for (parameter, field) in Self.fields { fields.set(field, self[parameter]) }
        fields.set(.campaignKey, self[.utmCampaign])
        if let page = storePage(of: app) { fields.set(.iosFallback, page) }
        fields.set(.metadata, metadata)
        return fields
    }

    /// What is set, and has no meaning here for a link of this app.
    public func leftOut(of app: AppLinks) -> [Parameter] {
        var all: [Parameter] = [.ipadFallback, .forcedRedirect]
        if self[.iosScheme]?.asciiLowercased != app.apple.scheme { all.append(.iosScheme) }
        if storePage(of: app) == nil { all += Self.storeParameters }
        all += Self.minimumVersions.filter { version($0) == nil }
        return all.filter { self[$0] != nil && !isOff($0) }
    }

    /// Whether it names the app by its package or one of its bundles.
    public func names(_ app: AppLinks) -> Bool {
        let bundles = [self[.iosBundle], self[.ipadBundle]].compactMap(\.self)
        return (self[.androidPackage].map { $0 == app.android.package } ?? false)
            || bundles.contains(where: app.apple.bundleIDs.contains)
    }

    /// What of it is another app's than this one, as far as the app has said what it is.
    public func problems(for app: AppLinks) -> [FieldProblem] {
        var problems: [FieldProblem] = []
        func compare(_ parameter: Parameter, _ known: [String], _ what: String, _ option: String) {
            guard let text = self[parameter], !known.isEmpty, !known.contains(text) else { return }
            let names = known.joined(separator: ", ")
            problems.append(
                FieldProblem(
                    parameter.rawValue,
                    "\(parameter.rawValue) is \(text), and the app's \(what) \(names): it is another app's link, or "
                        + "\"afterlink apps set \(option)\" has not been told of it."
                )
            )
        }
        compare(.androidPackage, app.android.package.map { [$0] } ?? [], "package is", "--android-package")
        compare(.iosBundle, app.apple.bundleIDs, "bundles are", "--ios-bundle")
        compare(.ipadBundle, app.apple.bundleIDs, "bundles are", "--ios-bundle")
        let storeID = app.apple.appStoreID.map { [String($0)] } ?? []
        compare(.appStoreID, storeID, "number in the App Store is", "--ios-store-id")
        return problems
    }

    /// `efr=0` and `efr=false` ask for what happens anyway.
    private func isOff(_ parameter: Parameter) -> Bool {
        parameter == .forcedRedirect && ["0", "false"].contains(self[parameter]?.asciiLowercased)
    }

    /// The app's page in Apple's store with the link's own parameters; nil where it has none, or leads elsewhere.
    private func storePage(of app: AppLinks) -> String? {
        let items = Self.storeParameters.compactMap { name in
            self[name].map {
                "\(name.rawValue)=" + String(decoding: PercentEncoding.queryValue($0), as: UTF8.self)
            }
        }
        guard self[.iosFallback] == nil, !items.isEmpty,
            let id = self[.appStoreID].flatMap(AppIdentifiers.storeID) ?? app.apple.appStoreID
        else { return nil }
        return "https://apps.apple.com/app/id\(id)?" + items.joined(separator: "&")
    }

    /// As in `{"amv":"12","imv":"1.2"}`.
    private var metadata: String? {
        let members = Self.minimumVersions.compactMap { name in
            version(name).map { "\"\(name.rawValue)\":\"\($0)\"" }
        }
        return members.isEmpty ? nil : "{" + members.joined(separator: ",") + "}"
    }

    /// Nil for what is no version, and so may need an escape in JSON.
    private func version(_ parameter: Parameter) -> String? {
        self[parameter].flatMap { text in
            let isVersion =
                text.utf8.count <= 64
                && text.utf8.allSatisfy {
                    $0.isASCIIAlphanumeric || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
                }
            return isVersion ? text : nil
        }
    }
}
