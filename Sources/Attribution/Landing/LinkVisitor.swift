/// The device and browser of a link's visitor, according to the request.
public struct LinkVisitor: Equatable, Sendable {
    /// The kind of device for which a page is made.
    public enum Device: String, CaseIterable, Sendable {
        case iPhone
        case iPad
        case android
        /// Huawei's own system, without Google's services.
        case harmony
        /// A Mac, or an iPad that asks for desktop pages: both have the same agent, and a script distinguishes them.
        case macOrIPad
        case desktop
    }

    public let device: Device
    public let browser: BrowserFamily

    public init(device: Device, browser: BrowserFamily) {
        self.device = device
        self.browser = browser
    }

    /// - Parameter headers: the fields of the request that describe the browser.
    public init(_ headers: VisitHeaders) {
        self.init(device: Self.device(headers), browser: BrowserFamily(userAgent: headers.userAgent))
    }

    /// The device's platform; ``Platform/other`` for a desktop, and for a device that may be a Mac or an iPad.
    public var platform: Platform {
        switch device {
        case .iPhone, .iPad: .ios
        case .android, .harmony: .android
        case .macOrIPad, .desktop: .other
        }
    }

    private static func device(_ headers: VisitHeaders) -> Device {
        let agent = UserAgent(headers.userAgent)
        if agent.platform == .ios { return agent.model == "iPad" ? .iPad : .iPhone }
        let text = headers.userAgent.utf8.prefix(AgentText.maximumLength).map(\.asciiLowercased)
        let keyword = keywords.firstMatch(in: text)
        if let keyword, keyword < harmonyKeywordCount { return .harmony }
        if agent.platform == .android || headers.hints.knownPlatform == .android { return .android }
        // Chrome on a Mac sends a platform hint; browsers on iPads send none.
        return keyword != nil && headers.hints.platform == nil ? .macOrIPad : .desktop
    }

    private static let harmonyKeywordCount = 3
    private static let keywords = TokenSet(["openharmony", "harmonyos", "arkweb/", "macintosh"])
}

/// The abilities of a page in an app's own browser.
///
/// Such browsers are web views: the app around them decides whether a tap on another app's link opens that
/// app. Apps that show links in the system's own view (Gmail, YouTube, and most on Android) count as the
/// system's browser here, because their agents are the system's.
///
/// Sources: the measurements of apps by inappdebugger.com (October and November 2024), and LINE's
/// documentation of its URL parameters.
public struct InAppBrowser: Equatable, Sendable {
    /// The way from the app into the system's browser.
    public enum WayOut: String, Equatable, Sendable {
        /// Safari's own scheme.
        case safari
        /// An intent for the page's URL, which only browsers and the app of the link host handle.
        case intent
        /// A URL parameter that the app recognises.
        case parameter
    }

    /// When a link with another app's scheme, or an intent, opens that app.
    public enum Opening: String, Equatable, Sendable {
        case never
        case byTap
        /// The other app opens even without a tap; if it is not installed, no error appears.
        case byItself
    }

    public let opensApps: Opening
    /// The way into the system's browser; nil if the visitor can leave only by the app's menu.
    public let wayOut: WayOut?

    /// Returns nil for a browser that is not part of another app.
    public init?(_ browser: BrowserFamily, on device: LinkVisitor.Device) {
        guard Self.isInApp(browser) else { return nil }
        switch device {
        case .iPhone, .iPad, .macOrIPad: self = Self.onApple(browser)
        case .android, .harmony: self = Self.onAndroid(browser)
        case .desktop: self.init(opensApps: .byTap, wayOut: nil)
        }
    }

    private init(opensApps: Opening, wayOut: WayOut?) {
        self.opensApps = opensApps
        self.wayOut = wayOut
    }

    private static func isInApp(_ browser: BrowserFamily) -> Bool {
        switch browser {
        case .instagram, .threads, .facebook, .messenger, .tiktok, .twitter, .whatsapp, .telegram, .snapchat,
            .pinterest, .linkedin, .wechat, .line, .googleApp, .webView:
            true
        case .samsung, .edge, .opera, .firefox, .huawei, .xiaomi, .yandex, .uc, .brave, .duckduckgo, .chrome,
            .safari, .other, .unknown:
            false
        }
    }

    private static func onApple(_ browser: BrowserFamily) -> InAppBrowser {
        switch browser {
        case .tiktok, .messenger: InAppBrowser(opensApps: .never, wayOut: .safari)
        case .wechat, .snapchat: InAppBrowser(opensApps: .never, wayOut: nil)
        case .line: InAppBrowser(opensApps: .byTap, wayOut: .parameter)
        default: InAppBrowser(opensApps: .byTap, wayOut: .safari)
        }
    }

    private static func onAndroid(_ browser: BrowserFamily) -> InAppBrowser {
        switch browser {
        case .tiktok, .messenger, .threads, .wechat: InAppBrowser(opensApps: .never, wayOut: nil)
        case .line: InAppBrowser(opensApps: .byItself, wayOut: .parameter)
        case .facebook, .instagram, .telegram: InAppBrowser(opensApps: .byItself, wayOut: .intent)
        // In an unmeasured web view, opening an app without a tap may replace the page with an error, so the page waits
        // for a tap.
        default: InAppBrowser(opensApps: .byTap, wayOut: .intent)
        }
    }
}

extension InAppBrowser.WayOut {
    /// Returns the URL that opens a page in the system's browser.
    ///
    /// - Parameter page: the page's URL, which starts with `https://` and has no fragment.
    /// - Returns: the target of a button on the page.
    public func url(of page: String) -> String {
        switch self {
        case .safari: "x-safari-\(page)"
        case .parameter: "\(page)\(page.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")openExternalBrowser=1"
        case .intent: "intent\(page.dropFirst("https".count))#Intent;scheme=https;end"
        }
    }
}
