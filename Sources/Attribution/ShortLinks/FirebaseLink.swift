/// A Firebase Dynamic Link, read from the query of a long link or from the columns of an export.
///
/// Sources: Firebase's documentation, "Manually constructing a Dynamic Link URL" and "Export Dynamic Links metadata".
public struct FirebaseLink: Equatable, Sendable {
    public enum Parameter: String, CaseIterable, Sendable {
        /// The page or deep link to open.
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
        /// Whether to skip the page that previews the app.
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
        /// The affiliate token in Apple's store; the next three are the campaign, the media type and the
        /// provider there.
        case affiliate = "at"
        case storeCampaign = "ct"
        case mediaType = "mt"
        case provider = "pt"
    }

    private var texts: [Parameter: String] = [:]

    public init() {}

    /// The parameters that are set, with their names in a long link.
    var items: [QueryItem] {
        Parameter.allCases.compactMap { parameter in
            texts[parameter].map { QueryItem(name: parameter.rawValue, value: $0) }
        }
    }

    /// The value of a parameter; nil if it is not set.
    ///
    /// Setting trims a text; an empty text clears the parameter.
    public subscript(parameter: Parameter) -> String? {
        get { texts[parameter] }
        set {
            let text = newValue?.trimmed ?? ""
            texts[parameter] = text.isEmpty ? nil : text
        }
    }
}

extension FirebaseLink {
    /// The parameters that have an equivalent field.
    private static let fields: [(parameter: Parameter, field: LinkField)] = [
        (.link, .destination), (.androidFallback, .androidFallback), (.iosFallback, .iosFallback),
        (.desktopFallback, .desktopURL), (.socialTitle, .previewTitle),
        (.socialDescription, .previewDescription), (.socialImage, .previewImage), (.utmSource, .utmSource),
        (.utmMedium, .utmMedium), (.utmCampaign, .utmCampaign), (.utmTerm, .utmTerm),
        (.utmContent, .utmContent),
    ]
    private static let storeParameters: [Parameter] = [.provider, .affiliate, .storeCampaign, .mediaType]
    private static let minimumVersions: [Parameter] = [.androidMinimumVersion, .iosMinimumVersion]

    /// Returns the fields of the equivalent link of this app.
    ///
    /// `utm_campaign` is also the campaign key, because Firebase had no campaign key. The parameters of
    /// Apple's store become part of the URL of the app's page in that store. The minimum versions become part
    /// of the metadata, which the app can check.
    public func fields(of app: AppLinks) -> LinkFields {
        var fields = LinkFields()
        for (parameter, field) in Self.fields { fields.set(field, self[parameter]) }
        fields.set(.campaignKey, self[.utmCampaign])
        if let page = storePage(of: app) { fields.set(.iosFallback, page) }
        fields.set(.metadata, metadata)
        return fields
    }

    /// Returns the parameters that are set but have no effect on a link of this app.
    public func leftOut(of app: AppLinks) -> [Parameter] {
        var all: [Parameter] = [.ipadFallback, .forcedRedirect]
        if self[.iosScheme]?.asciiLowercased != app.apple.scheme { all.append(.iosScheme) }
        if storePage(of: app) == nil { all += Self.storeParameters }
        all += Self.minimumVersions.filter { version($0) == nil }
        return all.filter { self[$0] != nil && !isOff($0) }
    }

    /// Returns whether the link names the app by its package or one of its bundles.
    public func names(_ app: AppLinks) -> Bool {
        let bundles = [self[.iosBundle], self[.ipadBundle]].compactMap(\.self)
        return (self[.androidPackage].map { $0 == app.android.package } ?? false)
            || bundles.contains(where: app.apple.bundleIDs.contains)
    }

    /// Returns a problem for each package, bundle id or store number of the link that differs from the app's.
    ///
    /// A value that the app does not set causes no problem.
    public func problems(for app: AppLinks) -> [FieldProblem] {
        var problems: [FieldProblem] = []
        func compare(_ parameter: Parameter, _ known: [String], _ what: String, _ option: String) {
            guard let text = self[parameter], !known.isEmpty, !known.contains(text) else { return }
            let names = known.joined(separator: ", ")
            problems.append(
                FieldProblem(
                    parameter.rawValue,
                    "\(parameter.rawValue) is \(text), but the app's \(what) \(names). If the link is this app's, add the "
                        + "value with \"afterlink apps set \(option)\"."
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

    /// Returns whether the parameter is `efr` with `0` or `false`, the default.
    private func isOff(_ parameter: Parameter) -> Bool {
        parameter == .forcedRedirect && ["0", "false"].contains(self[parameter]?.asciiLowercased)
    }

    /// Returns the app's page in Apple's store with the link's store parameters.
    ///
    /// Returns nil without store parameters, without a known store number, and for a link with a fallback of
    /// its own on iOS.
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

    /// The minimum versions as in `{"amv":"12","imv":"1.2"}`; nil if there are none.
    private var metadata: String? {
        let members = Self.minimumVersions.compactMap { name in
            version(name).map { "\"\(name.rawValue)\":\"\($0)\"" }
        }
        return members.isEmpty ? nil : "{" + members.joined(separator: ",") + "}"
    }

    /// Returns a version; nil for any other text, which might need an escape in JSON.
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

/// A long Dynamic Link of Firebase, which contains the target in its own query, as in
/// `https://go.shop.example/?link=https://shop.example/promo&apn=com.example.shop`.
///
/// Any person can write one. It may therefore lead only to targets that the app lists by name, and to the
/// app's own page in Apple's store; neither `--web-host any` nor a missing list of destinations allows more.
///
/// Source of the rule: OWASP ASVS 5.0, 3.7.2.
public struct FirebaseLongLink: Equatable, Sendable {
    public let link: FirebaseLink
    /// Whether the tapped URL asks for a description of the link instead of a redirect.
    public let isPreview: Bool

    /// Reads the decoded query of a tapped URL; if a parameter occurs more than once, the first one counts.
    ///
    /// Returns nil if the query has no `link`: then the URL is no long link.
    public init?(query: [QueryItem]) {
        var link = FirebaseLink()
        for item in query {
            guard let parameter = FirebaseLink.Parameter(rawValue: item.name), link[parameter] == nil
            else { continue }
            link[parameter] = item.value
        }
        guard link[.link] != nil else { return nil }
        self.link = link
        isPreview = Self.asksForPreview(query)
    }

    /// Returns whether the query of a tapped URL contains `d=1`; the URL of a short link may contain it too.
    public static func asksForPreview(_ query: [QueryItem]) -> Bool {
        query.first { $0.name == "d" }?.value == "1"
    }

    /// Returns the app of the link among the apps of the requested host: the named app, or else the only one;
    /// nil if there are several.
    public func app(among apps: [App]) -> App? {
        apps.first { link.names($0.settings.links) } ?? (apps.count == 1 ? apps.first : nil)
    }

    /// Returns the settings of the link, for one tap.
    ///
    /// The settings lack a picture from a host that the app does not list, and texts that a link cannot
    /// contain; a preview's title and description are cut if they are too long.
    ///
    /// - Parameter app: the app of the link.
    /// - Returns: settings with only targets that the app lists by name, and the app's own page in Apple's
    ///   store.
    /// - Throws: ``FieldProblems``: the reasons why the tap must lead nowhere, and what the operator can do.
    public func settings(for app: App.Settings) throws(FieldProblems) -> Link.Settings {
        var problems = link.problems(for: app.links)
        let fields = fields(of: app.links)
        do throws(FieldProblems) {
            _ = try Link.Settings(fields)
        } catch { problems += error.all.filter { Self.leading.map(\.rawValue).contains($0.field) } }
        var settings = Link.Settings(stored: fields)
        problems += settings.problems(ofStrangerFor: app)
        guard problems.isEmpty else { throw FieldProblems(problems) }
        if let image = settings.preview.image, !app.links.lists(webHost: image.host) {
            settings.preview.image = nil
        }
        return settings
    }

    /// The fields that contain a target for a browser or an app.
    private static let leading: [LinkField] = [.destination, .androidFallback, .iosFallback, .desktopURL]

    private func fields(of app: AppLinks) -> LinkFields {
        var fields = link.fields(of: app)
        for field in [LinkField.previewTitle, .previewDescription] {
            fields.set(field, fields.text(field).map(Self.cut))
        }
        return fields
    }

    private static func cut(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(Link.Preview.maximumTextLength)))
    }
}

extension Link.Settings {
    /// Returns a problem for each target that the app does not list by name.
    fileprivate func problems(ofStrangerFor app: App.Settings) -> [FieldProblem] {
        var problems: [FieldProblem] = []
        if let problem = target?.problem(ofStrangerFor: app) {
            problems.append(FieldProblem(LinkField.destination, problem))
        }
        for (field, page) in [
            (LinkField.androidFallback, fallbacks.android), (.iosFallback, fallbacks.ios),
            (.desktopURL, fallbacks.desktop),
        ] {
            guard let page, !app.links.lists(page), !app.links.isOwnStorePage(page) else { continue }
            problems.append(FieldProblem(field, "\(field.rawValue) \(AppLinks.unlistedHost(page.host))"))
        }
        return problems
    }
}

extension Link.Target {
    fileprivate func problem(ofStrangerFor app: App.Settings) -> String? {
        switch self {
        case .path: "link must be a whole URL such as https://shop.example/x."
        case .url(let url): Self.problem(ofStranger: url, for: app)
        }
    }

    private static func problem(ofStranger url: DeepLinkURL, for app: App.Settings) -> String? {
        guard app.destinations.isEmpty || !app.allows(url), let parts = try? URLParts(Array(url.text.utf8))
        else { return nil }
        guard parts.isWeb else {
            guard !app.links.schemes.contains(parts.scheme) else { return nil }
            return "link has the scheme \(parts.scheme), which is none of the app's; list it with "
                + "\"afterlink apps set --ios-scheme\" or \"--android-scheme\"."
        }
        guard parts.scheme == "https", let authority = try? parts.host()
        else { return "link leads to a page without encryption; start it with https://." }
        let host = authority.name
        guard app.links.lists(webHost: host) else { return "link \(AppLinks.unlistedHost(host))" }
        guard authority.port == nil else { return "link names a port, which no page of the app has." }
        let isLongLink =
            app.links.hosts.contains { $0.text == host } && url.queryItems.contains { $0.name == "link" }
        return isLongLink ? "link is a long link itself; let it name a page of the app." : nil
    }
}

extension AppLinks {
    /// Returns whether the app lists a web host by its name.
    fileprivate func lists(webHost host: String) -> Bool {
        (webHosts ?? []).contains(host) || hosts.contains { $0.text == host }
    }

    /// Returns whether a page is on the standard port of a host that the app lists; another port may be
    /// another service.
    fileprivate func lists(_ page: WebURL) -> Bool {
        lists(webHost: page.host) && (try? URLParts(Array(page.text.utf8)).host().port) == .some(nil)
    }

    /// Returns whether a page is this app's page in Apple's store.
    fileprivate func isOwnStorePage(_ page: WebURL) -> Bool {
        guard let id = apple.appStoreID else { return false }
        let address = "https://apps.apple.com/app/id\(id)"
        return page.text == address || page.text.hasPrefix(address + "?")
    }

    /// Returns the error message for a host that the app does not list, without the field's name at its start.
    fileprivate static func unlistedHost(_ host: String) -> String {
        "leads to \(host), which the app does not list; add it with \"afterlink apps set --web-host \(host)\". "
            + "\"--web-host any\" does not count for a long link, because any person can write one."
    }
}
