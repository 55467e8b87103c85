internal import Attribution

/// What a link does for one kind of visitor, in words for the debug page and the dashboard.
struct LinkEffects {
    /// The kind of visitor, such as `iPhone`.
    let visitor: String
    /// Whether the visitor is a program that reads the link's preview.
    let isRobot: Bool
    /// The effects, in the order of ``names``.
    let texts: [String]

    static let names = ["App installed", "Not installed", "The page"]

    /// Returns the effects for ten kinds of visitors; if the link has variants, the effects are the first variant's.
    static func all(of link: Link.Settings, in app: AppLinks, _ robots: RobotAgents) -> [LinkEffects] {
        agents.map { name, agent in
            if robots.isRobot(agent) {
                let text = "Gives title, text and picture, and counts no click"
                return LinkEffects(visitor: name, isRobot: true, texts: ["–", "–", text])
            }
            let visitor = LinkVisitor(VisitHeaders(userAgent: agent))
            let target = link.deepLink(link.variants.first, on: visitor.platform, of: app)
            let actions = LandingActions(visitor, of: link, to: target, in: app)
            return LinkEffects(visitor: name, isRobot: false, texts: texts(of: actions))
        }
    }

    private static func texts(of actions: LandingActions) -> [String] {
        let opens = actions.inApp?.opensApps == .never ? nil : actions.openURL
        let elsewhere = actions.storeURL ?? (actions.showsCode ? "A page with a code for a phone" : nil)
        let itself =
            switch actions.next {
            case .wait: "Waits for a tap"
            case .open: "Tries the app, and leads to the store if it is not installed"
            case .store: "Leads to the store at once"
            }
        return [
            opens ?? "Stays on the page", elsewhere ?? "Nothing: the app has no store for this device",
            itself,
        ]
    }

    private static let apple = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
    private static let iPhone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) \(apple)"
    private static let mac =
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) \(apple) Version/18.5 Safari/605.1.15"
    private static let chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0"

    /// The user agents of the kinds of visitors, as they are sent to servers.
    private static let agents = [
        ("WhatsApp, for a preview", "WhatsApp/2.23.20.0"),
        ("iMessage, for a preview", "\(mac) facebookexternalhit/1.1 Facebot Twitterbot/1.0"),
        ("iPhone", "\(iPhone) Version/18.5 Mobile/15E148 Safari/604.1"),
        ("iPhone, inside Instagram", "\(iPhone) Mobile/22F76 Instagram 393.1.0.36.70 (iPhone15,3; iOS 18_5)"),
        (
            "iPad",
            "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) \(apple) Version/18.5 Mobile/15E148 Safari/604.1"
        ),
        ("Mac, or iPad as a computer", mac),
        ("Android", "Mozilla/5.0 (Linux; Android 10; K) \(chrome) Mobile Safari/537.36"),
        (
            "Android, inside Facebook",
            "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) \(chrome) Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/488.0.0.62.79;]"
        ),
        (
            "Huawei's own system",
            "Mozilla/5.0 (Phone; OpenHarmony 5.0) \(chrome) Safari/537.36 ArkWeb/4.1.6.1 Mobile HuaweiBrowser/5.0.4"
        ),
        ("Computer", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) \(chrome) Safari/537.36"),
    ]
}
