internal import Attribution
internal import HTTPServer

/// The page that lists the effects of a link on each kind of device, at `?d=1`; it records no click.
///
/// It needs no key, because it reveals nothing that a tap does not reveal. Firebase's links had the same page.
struct LinkDebugPage {
    static let valueNames: Set<String> = ["title", "state", "icon", "color", "onColor", "nonce"]

    private let found: FoundLink
    private let exchange: Exchange

    init(_ found: FoundLink, _ exchange: Exchange) { (self.found, self.exchange) = (found, exchange) }

    var response: Response {
        var page = Page(of: found.app, exchange)
        page.values["state"] = state
        var rows = FlowRows()
        switch found.link {
        case .failure(let problems):
            page.values["title"] = "A link of \(found.app.settings.name)"
            rows.add("Why", problems.all.map { ($0.field, $0.message) })
        case .success(let link):
            page.values["title"] = LinkAddress(exchange, link, of: found.app).url()
            add(link, to: &rows)
        }
        let pages = page.pages
        return page.response(pages.flow, parts: ["flowStyle": pages.flowStyle, "rows": rows.html])
    }

    private var state: String {
        if let ending = found.ending { return "This link \(ending.reason), and no longer leads anywhere." }
        guard case .success = found.link else { return "This long link leads nowhere." }
        return "This is what a tap on the link does. Nothing is counted here."
    }

    private func add(_ link: TappedLink, to rows: inout FlowRows) {
        let (settings, app) = (link.settings, found.app.settings.links)
        for effects in LinkEffects.all(of: settings, in: app, exchange.service.settings.robots)
        where !effects.isRobot {
            rows.add(effects.visitor, zip(LinkEffects.names, effects.texts).map { ($0, $1) })
        }
        rows.add("Variants", Self.variants(settings.variants))
        rows.add("Recorded with the click", Self.recordedValues(settings))
        let (preview, name) = (settings.preview, found.app.settings.name)
        let (title, text, picture) = (preview.title ?? name, preview.description, preview.image?.text)
        rows.add("Shown by messengers", [("Title", title), ("Text", text), ("Picture", picture)])
    }

    private static func variants(_ variants: [Link.Variant]) -> [(String, String?)] {
        let total = variants.reduce(0) { $0 + $1.weight }
        return variants.map { ($0.name, "\($0.weight) of \(total): \($0.target.text)") }
    }

    private static func recordedValues(_ settings: Link.Settings) -> [(String, String?)] {
        [
            ("Campaign", settings.campaignKey?.text), ("Source", settings.source),
            ("Referral code", settings.referralCode),
        ] + settings.utm.map { ($0.name, $0.value) }
    }
}

/// The HTML of lists of names and values, each under a heading.
struct FlowRows {
    private(set) var html: [UInt8] = []

    /// Adds a heading and a list of the rows that have a text; adds nothing if no row has one.
    mutating func add(_ heading: String, _ rows: [(String, String?)]) {
        let rows = rows.compactMap { name, text in text.map { (name, $0) } }
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
