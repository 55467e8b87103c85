internal import Attribution
internal import HTTPServer

/// The page that shows an operator what a link does, at `?d=1`; it records no click.
///
/// It reveals nothing that taps do not show. Firebase's links had the same.
struct LinkDebugPage {
    static let valueNames: Set<String> = ["title", "state", "icon", "color", "onColor", "nonce"]
    static let rawParts: Set<String> = ["style", "flowStyle", "rows"]

    /// The visitors for whom the page lists what happens.
    private static let visitors: [(name: String, visitor: LinkVisitor)] = [
        ("iPhone", LinkVisitor(device: .iPhone, browser: .safari)),
        ("iPhone, inside Instagram", LinkVisitor(device: .iPhone, browser: .instagram)),
        ("iPad", LinkVisitor(device: .iPad, browser: .safari)),
        ("Android", LinkVisitor(device: .android, browser: .chrome)),
        ("Android, inside Facebook", LinkVisitor(device: .android, browser: .facebook)),
        ("Huawei's own system", LinkVisitor(device: .harmony, browser: .huawei)),
        ("Computer", LinkVisitor(device: .desktop, browser: .chrome)),
    ]

    private let opened: OpenedLink
    private let exchange: Exchange
    private let context: LoopContext

    init(_ opened: OpenedLink, _ exchange: Exchange, _ context: LoopContext) {
        self.opened = opened
        self.exchange = exchange
        self.context = context
    }

    var response: Response {
        var page = Page(of: opened.app, exchange, context)
        page.values["state"] = state
        var rows = FlowRows()
        switch opened.state {
        case .refused(let problems): rows.add("Why", problems.all.map { ($0.field, $0.message) })
        case .leads(let link), .ended(_, let link):
            let address = LinkAddress(exchange, context, link, of: opened.app)
            page.values["title"] = address.url()
            add(link, to: &rows)
        }
        page.values["title"] = page.values["title"] ?? "A link of \(opened.app.settings.name)"
        let pages = page.pages
        return page.response(pages.flow, parts: ["flowStyle": pages.flowStyle, "rows": rows.html])
    }

    private var state: String {
        switch opened.state {
        case .leads: "This is what a tap on the link does. Nothing is counted here."
        case .ended(.archived, _): "This link was archived, and no longer leads anywhere."
        case .ended(.expired, _): "This link has expired, and no longer leads anywhere."
        case .ended(.usedUp, _):
            "This link has had as many clicks as it may have, and no longer leads anywhere."
        case .refused: "This long link leads nowhere."
        }
    }

    private func add(_ link: TappedLink, to rows: inout FlowRows) {
        let (settings, app) = (link.settings, opened.app.settings.links)
        for (name, visitor) in Self.visitors {
            let target = settings.deepLink(settings.variants.first, on: visitor.platform, of: app)
            let actions = LandingActions(visitor, of: settings, to: target, in: app)
            rows.add(name, Self.ways(actions))
        }
        rows.add("Variants", Self.variants(settings.variants))
        rows.add("Recorded with the click", Self.marks(settings))
        let preview = settings.preview
        rows.add(
            "Shown by messengers",
            [
                ("Title", preview.title ?? opened.app.settings.name), ("Text", preview.description),
                ("Picture", preview.image?.text),
            ].compactMap { name, text in text.map { (name, $0) } }
        )
    }

    private static func ways(_ actions: LandingActions) -> [(String, String)] {
        let opens = actions.inApp?.opensApps == .never ? nil : actions.openURL
        let elsewhere = actions.storeURL ?? (actions.showsCode ? "A page with a code for a phone" : nil)
        let itself =
            switch actions.next {
            case .wait: "Waits for a tap"
            case .open: "Tries the app, and leads to the store if it is not installed"
            case .store: "Leads on at once"
            }
        return [
            ("App installed", opens ?? "Stays on the page"),
            ("Not installed", elsewhere ?? "Nothing: the app has no store for it"),
            ("The page", itself),
        ]
    }

    private static func variants(_ variants: [Link.Variant]) -> [(String, String)] {
        let total = variants.reduce(0) { $0 + $1.weight }
        return variants.map { ($0.name, "\($0.weight) of \(total): \($0.target.text)") }
    }

    private static func marks(_ settings: Link.Settings) -> [(String, String)] {
        [
            ("Campaign", settings.campaignKey?.text), ("Source", settings.source),
            ("Referral code", settings.referralCode),
        ].compactMap { name, text in text.map { (name, $0) } } + settings.utm.map { ($0.name, $0.value) }
    }
}

/// Lists of names and values, under headings.
struct FlowRows {
    private(set) var html: [UInt8] = []

    /// Adds a list; none where it would be empty.
    mutating func add(_ heading: String, _ rows: [(String, String)]) {
        guard !rows.isEmpty else { return }
        add("h2", heading)
        html += "<dl>\n".utf8
        for (name, text) in rows {
            add("dt", name)
            add("dd", text)
        }
        html += "</dl>\n".utf8
    }

    private mutating func add(_ tag: StaticString, _ text: String) {
        html += "<\(tag) dir=\"auto\">".utf8
        HTMLText.append(text, to: &html)
        html += "</\(tag)>\n".utf8
    }
}
