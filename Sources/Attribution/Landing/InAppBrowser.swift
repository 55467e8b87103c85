/// What a page can do in the browser of its own in which an app shows links.
///
/// Such browsers are web views: whether a tap on another app's link opens that app is for the app around them to decide.
/// Apps that show links in the system's own view (Gmail, YouTube, and most on Android) are the system's browser here: their
/// agents are its own.
///
/// Sources: what apps were seen to do by the measurements of inappdebugger.com (October and November 2024), and LINE's
/// documentation of its URL parameters.
public struct InAppBrowser: Equatable, Sendable {
    /// How a page gets out of it, into the system's browser.
    public enum WayOut: String, Equatable, Sendable {
        /// Safari's own scheme.
        case safari
        /// An intent that no app answers but browsers, and the app itself.
        case intent
        /// A parameter that the app looks for in addresses.
        case parameter
    }

    /// When a link of another app's scheme, or an intent, opens that app.
    public enum Opening: String, Equatable, Sendable {
        case never
        case byTap
        /// Without a tap too, and harmlessly where the app is not there.
        case byItself
    }

    public let opensApps: Opening
    /// Nil where the visitor has to take the way out himself, by the app's menu.
    public let wayOut: WayOut?

    /// Nil for the system's own browsers.
    public init?(_ browser: BrowserFamily, on device: LinkVisitor.Device) {
        guard Self.isOne(browser) else { return nil }
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

    private static func isOne(_ browser: BrowserFamily) -> Bool {
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
        // A web view that nobody has measured may show an error in the place of the page.
        default: InAppBrowser(opensApps: .byTap, wayOut: .intent)
        }
    }
}

extension InAppBrowser.WayOut {
    /// The address that leads to a page in the system's browser.
    ///
    /// - Parameter page: begins with `https://`; without a fragment.
    /// - Returns: what a button on the page links to.
    public func url(of page: String) -> String {
        switch self {
        case .safari: "x-safari-\(page)"
        case .parameter: "\(page)\(page.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")openExternalBrowser=1"
        case .intent: "intent\(page.dropFirst("https".count))#Intent;scheme=https;end"
        }
    }
}
