/// Which program opened a link, as far as its user agent says.
///
/// The raw value is the word in the database and in the JSON.
public enum BrowserFamily: String, CaseIterable, Sendable {
    case instagram, threads, facebook, messenger, tiktok, twitter, whatsapp, telegram, snapchat, pinterest
    case linkedin, wechat, line
    /// Google's own app, which shows pages itself.
    case googleApp = "google_app"
    case samsung, edge, opera, firefox, huawei, xiaomi, yandex, uc, brave, duckduckgo
    case chrome, safari
    /// An app that shows pages itself and does not say which it is.
    case webView = "web_view"
    case other
    case unknown

    /// - Parameter userAgent: as the click brought it.
    public init(userAgent: String) {
        guard !userAgent.utf8.isEmpty else {
            self = .unknown
            return
        }
        let bytes = userAgent.utf8.prefix(AgentText.maximumLength).map(\.asciiLowercased)
        guard let mark = Self.tokens.firstMatch(in: bytes) else {
            self = .other
            return
        }
        self = Self.marks[mark].family
    }

    /// What programs call themselves, in lower case; the first one of the list that occurs counts.
    ///
    /// Apps come before browsers and browsers before the engines that most of them name as well: an app's web view
    /// calls itself Chrome or Safari, and nearly everybody calls himself Mozilla.
    private static let marks: [(mark: String, family: BrowserFamily)] = [
        ("instagram", .instagram), ("barcelona", .threads), ("fban/messenger", .messenger),
        ("fb_iab/messenger", .messenger), ("fb_iab/orca", .messenger), ("mlite", .messenger),
        ("fban/", .facebook), ("fbav/", .facebook), ("fb_iab", .facebook), ("fbios", .facebook),
        ("tiktok", .tiktok), ("musical_ly", .tiktok), ("musically", .tiktok), ("bytedancewebview", .tiktok),
        ("bytelocale", .tiktok), ("trill_", .tiktok), ("twitter", .twitter), ("whatsapp", .whatsapp),
        ("[wa4a/", .whatsapp), ("telegram", .telegram), ("snapchat", .snapchat), ("pinterest", .pinterest),
        ("linkedin", .linkedin), ("micromessenger", .wechat), (" line/", .line), (" gsa/", .googleApp),
        ("samsungbrowser/", .samsung), ("edgios/", .edge), ("edga/", .edge), ("edg/", .edge),
        ("opr/", .opera), ("opt/", .opera), ("opios/", .opera), ("opera", .opera), ("fxios/", .firefox),
        ("firefox/", .firefox), ("huaweibrowser/", .huawei), ("miuibrowser/", .xiaomi),
        ("yabrowser/", .yandex), ("yaapp", .yandex), ("ucbrowser/", .uc), ("brave/", .brave),
        ("duckduckgo/", .duckduckgo), (" ddg/", .duckduckgo), ("crios/", .chrome), ("; wv)", .webView),
        ("chrome/", .chrome), (" safari/", .safari), (" mobile/", .webView),
    ]

    private static let tokens = TokenSet(marks.map(\.mark))
}
