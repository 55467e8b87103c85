/// The settings of an app for its links and its domain files.
public struct AppLinks: Equatable, Sendable {
    /// The hosts of the app's links and domain files, in the operator's order; several apps may share one.
    public var hosts: [LinkHost] = []
    /// The icon on the pages that visitors see.
    public var icon: WebURL?
    /// The colour of the pages that visitors see, as `#rrggbb`.
    public var color: String?
    public var apple = AppleApp()
    public var android = AndroidApp()
    /// The URLs to which a browser goes if the app is not installed and the link has no fallback of its own.
    public var fallbacks = Link.Fallbacks()
    /// Links and fallbacks may lead to these hosts, and to ``hosts``; nil allows any host.
    public var webHosts: [String]? = []
    /// The rules about which URLs of ``hosts`` open the installed app; if there are none, all URLs do.
    public var rules: [LinkRule] = []

    public init() {}
}

/// The names of an app in Apple's store and in Apple's domain file.
public struct AppleApp: Equatable, Sendable {
    /// The prefix of the app's id, ten capital letters and digits: the team's id, or for some old apps a prefix that no
    /// other app has.
    public var teamID: String?
    public var bundleIDs: [String] = []
    /// The number in the URL of the store's page.
    public var appStoreID: UInt64?
    /// The app's URL scheme, without `://`.
    public var scheme: String?
    /// Bundle ids of app clips.
    public var appClipIDs: [String] = []
    /// Whether passwords are shared between the app and its link hosts.
    public var sharesWebCredentials = false
    /// The shop's registrable domain, to which Apple's devices send postbacks.
    public var postbackHost: LinkHost?
    /// Whether the service exchanges attribution tokens for attributions at Apple Ads.
    public var usesAppleAds = false
    /// Whether reports count postbacks that are signed for development.
    public var countsDevelopmentPostbacks = false

    public init() {}
}

/// The names of an app in Google's store and in Google's domain file.
public struct AndroidApp: Equatable, Sendable {
    public var package: String?
    /// SHA-256 of the app's signing certificates: 32 bytes as upper-case hex with colons.
    public var certificateFingerprints: [String] = []
    /// The app's URL scheme, without `://`.
    public var scheme: String?

    public init() {}
}

/// A host name that links are served on, in lower case and ASCII, without a port.
public struct LinkHost: Hashable, Sendable {
    public let text: String

    /// Reads a `Host` field: a host name or an IP address, without its port; nil for any other text.
    ///
    /// A name may end with a dot, which marks it as complete (RFC 3986 §3.2.2); with and without this dot, it names the
    /// same host.
    public init?(_ text: String) {
        var bytes = Array(text.trimmed.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if end > 0, bytes[end - 1] == UInt8(ascii: ".") { bytes.remove(at: end - 1) }
        guard let host = try? URLHost(bytes[...], isWeb: true), host.name.utf8.count <= 253
        else { return nil }
        self.text = host.name
    }

    /// Reads a host as an operator names it; nil for a text with a port or a final dot, and for a text that is no host
    /// in ASCII.
    public init?(naming text: String) {
        guard let host = LinkHost(text), host.text == text.trimmed.asciiLowercased else { return nil }
        self = host
    }
}

/// The names of ``AppLinks``' settings on the wire, in files and in the database.
public enum AppLinkField: String, SettingField {
    /// The host names that serve the app's links and domain files.
    case hosts = "link_hosts"
    /// Links and fallbacks may lead to these hosts, and to ``hosts``; the single text `any` allows all hosts.
    case webHosts = "web_hosts"
    case icon
    case color
    case iosTeam = "ios_team"
    case iosBundles = "ios_bundles"
    case iosStoreID = "ios_store_id"
    case iosScheme = "ios_scheme"
    case iosAppClips = "ios_app_clips"
    case webCredentials = "web_credentials"
    case androidPackage = "android_package"
    case androidCertificates = "android_certificates"
    case androidScheme = "android_scheme"
    /// The URL to which browsers on iOS go if the app is not installed and a link has no iOS fallback.
    case iosFallback = "ios_fallback"
    case androidFallback = "android_fallback"
    case huaweiFallback = "huawei_fallback"
    case desktopURL = "desktop_url"
    /// The rules about which URLs of the link hosts open the app; each text is a ``LinkRule``.
    case rules = "link_rules"
    /// The domain to which Apple's devices send postbacks.
    case postbackHost = "apple_postback_host"
    case appleAds = "apple_ads"
    case developmentPostbacks = "apple_development_postbacks"

    public var kind: SettingFieldKind {
        switch self {
        case .hosts, .webHosts, .iosBundles, .iosAppClips, .androidCertificates, .rules: .list
        case .webCredentials, .appleAds, .developmentPostbacks: .flag
        default: .text
        }
    }
}

public typealias AppLinkFields = FieldTexts<AppLinkField>

extension AppLinks {
    static let maximumHostCount = 100

    /// Reads stored fields, which were valid when they were set.
    ///
    /// A text that is no longer valid is ignored, except that a rule with `#` in its query is kept.
    public init(stored fields: AppLinkFields) { (self, _) = Self.read(fields, former: []) }

    /// Reads and validates the fields of a request or a command.
    ///
    /// - Parameters:
    ///   - fields: the fields.
    ///   - former: the settings that these replace; their rules are accepted even with `#` in the query.
    /// - Throws: ``FieldProblems`` with all problems of the fields.
    public init(_ fields: AppLinkFields, replacing former: AppLinks = AppLinks()) throws(FieldProblems) {
        let (links, problems) = Self.read(fields, former: former.rules)
        guard problems.isEmpty else { throw FieldProblems(problems) }
        self = links
    }

    private static func read(_ fields: AppLinkFields, former: [LinkRule]) -> (AppLinks, [FieldProblem]) {
        var reader = FieldReader(fields)
        var links = AppLinks()
        links.hosts = reader.hosts(.hosts)
        links.webHosts = fields[.webHosts] == ["any"] ? nil : reader.hosts(.webHosts).map(\.text)
        links.icon = reader.page(.icon)
        links.color = reader.value(.color, rule: "must be a colour such as #1a2b3c", read: \.hexColor)
        reader.read(&links.apple)
        reader.read(&links.android)
        links.fallbacks.ios = reader.page(.iosFallback)
        links.fallbacks.android = reader.page(.androidFallback)
        links.fallbacks.huawei = reader.page(.huaweiFallback)
        links.fallbacks.desktop = reader.page(.desktopURL)
        links.rules = reader.rules(former)
        return (links, reader.problems)
    }

    /// The settings that are set, as texts that ``init(_:)`` reads.
    public var fields: AppLinkFields {
        var fields = AppLinkFields()
        fields[.hosts] = hosts.map(\.text)
        fields[.webHosts] = webHosts ?? ["any"]
        fields.set(.icon, icon?.text)
        fields.set(.color, color)
        fields.set(.iosTeam, apple.teamID)
        fields[.iosBundles] = apple.bundleIDs
        fields.set(.iosStoreID, apple.appStoreID.map { String($0) })
        fields.set(.iosScheme, apple.scheme)
        fields[.iosAppClips] = apple.appClipIDs
        fields.set(.webCredentials, apple.sharesWebCredentials ? "true" : nil)
        fields.set(.androidPackage, android.package)
        fields[.androidCertificates] = android.certificateFingerprints
        fields.set(.androidScheme, android.scheme)
        fields.set(.iosFallback, fallbacks.ios?.text)
        fields.set(.androidFallback, fallbacks.android?.text)
        fields.set(.huaweiFallback, fallbacks.huawei?.text)
        fields.set(.desktopURL, fallbacks.desktop?.text)
        fields[.rules] = rules.map(\.text)
        fields.set(.postbackHost, apple.postbackHost?.text)
        fields.set(.appleAds, apple.usesAppleAds ? "true" : nil)
        fields.set(.developmentPostbacks, apple.countsDevelopmentPostbacks ? "true" : nil)
        return fields
    }
}

extension FieldReader where Field == AppLinkField {
    fileprivate mutating func hosts(_ field: AppLinkField) -> [LinkHost] {
        list(
            field,
            maximumCount: AppLinks.maximumHostCount,
            rule: "must be host names such as go.shop.example, without https:// and without a path",
            read: LinkHost.init(naming:)
        )
    }

    fileprivate mutating func rules(_ former: [LinkRule]) -> [LinkRule] {
        var rules: [LinkRule] = []
        for text in fields[.rules] where !text.trimmed.isEmpty {
            do throws(LinkRuleError) {
                let rule = try LinkRule(parsing: text)
                rules.append(rule)
                // Append the rule even if the next line refuses it: ``AppLinks/init(stored:)`` ignores problems, and
                // must keep such a rule.
                if !former.contains(rule) { try rule.requireUnglued() }
            } catch { report(.rules, "\(AppLinkField.rules.rawValue): \(error.message)") }
        }
        if rules.count > LinkRule.maximumCount {
            report(
                .rules,
                "\(AppLinkField.rules.rawValue): write at most \(LinkRule.maximumCount); combine some with *."
            )
        }
        return rules
    }

    fileprivate mutating func read(_ apple: inout AppleApp) {
        apple.teamID = value(.iosTeam, rule: "must be ten capital letters and digits, as in ABCDE12345") {
            AppIdentifiers.isTeam($0) ? $0 : nil
        }
        let rule = "must be bundle ids such as com.example.shop"
        apple.bundleIDs = list(.iosBundles, maximumCount: 20, rule: rule, read: AppIdentifiers.bundle)
        apple.appClipIDs = list(.iosAppClips, maximumCount: 20, rule: rule, read: AppIdentifiers.bundle)
        apple.appStoreID = value(
            .iosStoreID,
            rule: "must be the number in the URL of the store's page, as in 1234567890",
            read: AppIdentifiers.storeID
        )
        apple.scheme = scheme(.iosScheme)
        apple.sharesWebCredentials = flag(.webCredentials) ?? false
        apple.postbackHost = value(
            .postbackHost,
            rule: "must be the shop's domain, as in shop.example, without https:// and without a path",
            read: LinkHost.init(naming:)
        )
        apple.countsDevelopmentPostbacks = flag(.developmentPostbacks) ?? false
        apple.usesAppleAds = flag(.appleAds) ?? false
    }

    fileprivate mutating func read(_ android: inout AndroidApp) {
        android.package = value(.androidPackage, rule: "must be a package name such as com.example.shop") {
            PlayStoreLink.isPackage($0) ? $0 : nil
        }
        android.certificateFingerprints = list(
            .androidCertificates,
            maximumCount: 20,
            rule:
                "must be SHA-256 fingerprints of signing certificates: 32 bytes in hex, with colons or without",
            read: AppIdentifiers.certificate
        )
        android.scheme = scheme(.androidScheme)
    }

    private mutating func scheme(_ field: AppLinkField) -> String? {
        value(
            field,
            rule: "must be the app's own scheme such as myapp, without ://, and not one of the web's",
            read: AppIdentifiers.scheme
        )
    }
}
