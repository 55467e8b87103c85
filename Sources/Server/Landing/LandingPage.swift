internal import Attribution
internal import HTTPServer

/// The page of a link: its preview, its buttons, and the values for its script.
struct LandingPage {
    static let valueNames: Set<String> = [
        "language", "direction", "nonce", "icon", "color", "onColor",
        "app", "title", "description", "image", "card", "url", "banner", "refresh",
        "link", "endpoint", "variant", "then", "store", "tablet", "tabletStore", "play", "intent",
        "pasteboard", "codeWithToken",
        "invitation", "storeURL", "storeText", "openURL", "openText", "browserURL", "browserText", "hint",
        "codeURL", "codeText", "copyURL", "copyText", "copiedText",
    ]

    private let visit: LinkVisit
    private let page: Page

    init(_ visit: LinkVisit, _ exchange: Exchange) {
        self.visit = visit
        page = Page(of: visit.app, exchange)
    }

    var response: Response {
        var page = page
        addPreview(&page.values)
        addWays(&page.values)
        if !visit.isRobot { addScriptValues(&page.values) }
        let script = ["script": visit.isRobot ? [] : page.pages.script]
        var response = page.response(page.pages.landing, parts: script, hasScript: !visit.isRobot)
        if visit.visitor.platform == .android { response.fields += Self.hintFields }
        return response
    }

    /// The fields that ask for the model and the version, which Chrome on Android does not send by itself.
    ///
    /// Chrome then requests the page again at once, with both values.
    private static let hintFields = ["Accept-CH", "Critical-CH"].map {
        FieldLine(name: $0, value: "Sec-CH-UA-Model, Sec-CH-UA-Platform-Version")
    }

    /// Adds the values of the preview in messengers and social networks (Open Graph protocol, ogp.me; X's cards).
    private func addPreview(_ values: inout [String: String]) {
        let preview = visit.link.settings.preview
        values["app"] = visit.app.settings.name
        values["title"] = preview.title ?? visit.app.settings.name
        values["description"] = preview.description
        values["image"] = preview.image?.text
        values["card"] = preview.image == nil ? "summary" : "summary_large_image"
        values["url"] = visit.address.url()
        values["banner"] = banner
    }

    /// The content of Apple's Smart App Banner, with the app clip if there is one.
    ///
    /// Nil if the visitor's system is not iOS, or the app has no App Store id.
    private var banner: String? {
        let apple = visit.app.settings.links.apple
        guard visit.visitor.platform == .ios, let id = apple.appStoreID else { return nil }
        var parts = ["app-id=\(id)"]
        if let url = visit.actions.openURL {
            // Commas separate the banner's parameters.
            parts.append("app-argument=\(url.replacing(",", with: "%2C"))")
        }
        if let clip = apple.appClipIDs.first {
            parts += ["app-clip-bundle-id=\(clip)", "app-clip-display=card"]
        }
        return parts.joined(separator: ", ")
    }

    private func addWays(_ values: inout [String: String]) {
        let (actions, address, inApp) = (visit.actions, visit.address, visit.actions.inApp)
        let isPage = !actions.showsCode && actions.store == .page && visit.visitor.platform == .other
        values["invitation"] = isPage ? nil : page.text("invitation")
        if let store = actions.store {
            let action = QueryItem(name: LinkParameter.action, value: LinkParameter.Action.store.rawValue)
            values["storeURL"] = address.path([action] + visit.pageItems)
            values["storeText"] = page.text(store.rawValue)
            if isPage, !visit.isRobot { values["refresh"] = values["storeURL"] }
        }
        if let url = actions.openURL, inApp?.opensApps != .never {
            values["openURL"] = url
            values["openText"] = page.text("open")
        }
        if let way = inApp?.wayOut, address.origin.hasPrefix("https:") {
            values["browserURL"] = way.url(of: address.url(visit.query))
            values["browserText"] = page.text("browser")
        }
        if inApp?.opensApps == .never { values["hint"] = page.text("in_app") }
        if actions.showsCode { addCode(&values) }
    }

    private func addCode(_ values: inout [String: String]) {
        let action = QueryItem(name: LinkParameter.action, value: LinkParameter.Action.code.rawValue)
        let url = visit.address.path([action] + visit.pageItems)
        values["codeURL"] = url
        values["codeWithToken"] = "\(url)&\(LinkParameter.token)="
        values["codeText"] = page.text("scan")
        values["copyURL"] = visit.address.url(visit.query.filter { $0.name != LinkParameter.token })
        values["copyText"] = page.text("copy")
        values["copiedText"] = page.text("copied")
    }

    private func addScriptValues(_ values: inout [String: String]) {
        let actions = visit.actions
        values["link"] = visit.link.name
        values["endpoint"] = "/v1/deferred-deeplink/click"
        values["variant"] = visit.variant?.name
        values["then"] = actions.next.rawValue
        values["store"] = visit.storeURL
        if visit.visitor.device == .macOrIPad { values["tablet"] = "1" }
        values["tabletStore"] = actions.tabletStoreURL
        values["intent"] = actions.intentURL
        values["play"] = actions.playPackage.flatMap { PlayStoreLink.template(package: $0, utm: visit.utm) }
        if visit.link.settings.usesPasteboard, actions.playPackage == nil {
            values["pasteboard"] = visit.address.url()
        }
    }
}
