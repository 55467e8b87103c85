/// The actions of a link's page: the targets of its buttons, and what happens without a tap.
public struct LandingActions: Equatable, Sendable {
    /// The page's action without a tap, after the click is recorded.
    public enum NextStep: String, Equatable, Sendable {
        case wait = ""
        case open
        case store
    }

    /// The kind of store, for the words on the button.
    public enum Store: String, Equatable, Sendable {
        case appStore = "app_store"
        case googlePlay = "google_play"
        /// A store that the operator chose.
        case other = "store"
        /// A page instead of a store.
        case page = "continue"
    }

    /// The link that opens the installed app; nil without a target, and on ``LinkVisitor/Device/desktop``.
    public var openURL: String?
    /// The link that opens the app on Android, or else leads to the URL that replaces `{fallback}`; nil on
    /// every other device, and without a target.
    public var intentURL: String?
    /// The target of the store button: a fallback page, or else the app's page in the device's store; nil if
    /// there is neither.
    public var storeURL: String?
    /// The kind of ``storeURL``; nil without one.
    public var store: Store?
    /// The app's package name if the button leads to the app's own page in Google's store; else nil.
    ///
    /// The link to this page then contains the token.
    public var playPackage: String?
    /// The target of the store button on an iPad that calls itself a Mac; nil for all other devices.
    public var tabletStoreURL: String?
    public var next: NextStep
    /// Whether the page shows a QR code for the phone.
    public var showsCode: Bool
    /// The in-app browser in which the page is open; nil for a browser that is not part of another app.
    public var inApp: InAppBrowser?

    /// Decides the actions for a link.
    ///
    /// - Parameters:
    ///   - visitor: the visitor who opens the link.
    ///   - link: the link's settings.
    ///   - deepLink: the link's target on the visitor's platform; nil if it has none.
    ///   - app: the app of the link.
    public init(_ visitor: LinkVisitor, of link: Link.Settings, to deepLink: DeepLinkURL?, in app: AppLinks) {
        openURL = deepLink?.text
        inApp = InAppBrowser(visitor.browser, on: visitor.device)
        next = .wait
        showsCode = false
        let pages = link.fallbacks
        switch visitor.device {
        case .iPhone, .iPad: leadToApple(pages.ios ?? app.fallbacks.ios, app)
        case .android:
            // Huawei's phones without Google's services come with Huawei's own browser.
            let huawei = visitor.browser == .huawei ? pages.huawei ?? app.fallbacks.huawei : nil
            leadToAndroid(huawei ?? pages.android ?? app.fallbacks.android, app)
            intentURL = deepLink.map { $0.intentURL(package: app.android.package) }
        case .harmony: leadToAndroid(pages.huawei ?? app.fallbacks.huawei, app)
        case .macOrIPad, .desktop: leadFromDesktop(pages, visitor.device, app)
        }
        next = nextStep(visitor, link)
    }

    private mutating func leadToApple(_ page: WebURL?, _ app: AppLinks) {
        storeURL = page?.text ?? app.apple.storeURL
        store = storeURL == nil ? nil : page.map(Self.kind) ?? .appStore
    }

    private mutating func leadToAndroid(_ page: WebURL?, _ app: AppLinks) {
        playPackage = page == nil ? app.android.package : nil
        storeURL = page?.text ?? app.android.storeURL
        store = storeURL == nil ? nil : page.map(Self.kind) ?? .googlePlay
    }

    private mutating func leadFromDesktop(
        _ pages: Link.Fallbacks,
        _ device: LinkVisitor.Device,
        _ app: AppLinks
    ) {
        let page = pages.desktop ?? app.fallbacks.desktop
        if device == .macOrIPad {
            leadToApple(pages.ios ?? app.fallbacks.ios, app)
            tabletStoreURL = storeURL
        } else {
            // A phone app's scheme opens nothing on a desktop.
            openURL = nil
        }
        if let page {
            storeURL = page.text
            store = Self.kind(of: page)
        }
        showsCode = page == nil
    }

    /// Returns the page's action without a tap.
    ///
    /// iOS opens an installed app instead of the page, except in an app's own browser. A visitor who sees the page
    /// elsewhere on an iPhone therefore does not have the app, and is sent to the store. If the page uses the
    /// pasteboard, it waits for a tap.
    private func nextStep(_ visitor: LinkVisitor, _ link: Link.Settings) -> NextStep {
        let storeOrWait: NextStep = storeURL == nil || needsTap(link) ? .wait : .store
        switch visitor.device {
        case .iPhone, .iPad: return inApp == nil ? storeOrWait : .wait
        case .android:
            guard inApp == nil || inApp?.opensApps == .byItself, !needsTap(link) else { return .wait }
            return intentURL == nil ? storeOrWait : .open
        case .harmony: return .wait
        case .macOrIPad, .desktop: return showsCode ? .wait : .store
        }
    }

    /// Returns whether the page must wait for a tap to put the token on the pasteboard.
    ///
    /// False if the link does not use the pasteboard, or if the page shows a QR code. Also false if the button leads to
    /// the app's own page in Google's store, because that store passes the token on.
    public func needsTap(_ link: Link.Settings) -> Bool {
        link.usesPasteboard && playPackage == nil && !showsCode
    }

    private static func kind(of page: WebURL) -> Store {
        switch page.host {
        case "apps.apple.com", "itunes.apple.com": .appStore
        case "play.google.com": .googlePlay
        default: otherStores.contains(page.host) ? .other : .page
        }
    }

    private static let otherStores: Set<String> = [
        "appgallery.huawei.com", "appgallery.cloud.huawei.com", "apps.samsung.com", "galaxystore.samsung.com",
        "galaxy.store", "app.mi.com", "global.app.mi.com", "www.amazon.com", "apps.rustore.ru",
        "www.rustore.ru",
    ]
}

extension AppleApp {
    public var storeURL: String? { appStoreID.map { "https://apps.apple.com/app/id\($0)" } }
}

extension AndroidApp {
    public var storeURL: String? { package.map { "https://play.google.com/store/apps/details?id=\($0)" } }
}

extension DeepLinkURL {
    /// Returns the link as an intent, which leads to a fallback if no app opens it.
    ///
    /// The last `#` starts the intent's own part; a fragment of the link comes before it. Source: "Android
    /// Intents with Chrome", developer.chrome.com/docs/android/intents, and `Intent.parseUri`.
    ///
    /// - Parameter package: the only app that may open the link; nil for any.
    /// - Returns: the intent's URL, in which `{fallback}` is a placeholder for the URL of the fallback.
    func intentURL(package: String?) -> String {
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let package = package.map { "package=\($0);" } ?? ""
        return
            "intent\(text[colon...])#Intent;scheme=\(text[..<colon]);\(package)S.browser_fallback_url={fallback};end"
    }
}
