internal import Attribution
internal import HTTPServer
internal import QRCodes

/// One link: its figures, its settings, its code, and what each kind of visitor gets.
enum LinkDetailPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let listing = try await find(exchange)
        let (link, now) = (listing.link, exchange.now)
        guard let app = exchange.directory.app(link.app) else { throw .notFound(DashboardText.noLink) }
        let ending = link.ending(at: now, clicks: listing.clicks)
        let robots = exchange.service.settings.robots
        var page = DashboardPage(title: link.slug.text) { html in
            if let ending { html.element("p", ["class": "bad"], DashboardText.ended(ending)) }
            html.writeLinkWarnings(of: app)
            writeFigures(listing, to: &html)
            let days = html.address.page("/").with("from", nil).with("to", nil)
                .with("link", link.id.text).with("period", "30d")
            html.paragraph(linkingTo: days, DashboardText.clicksByDay)
            if html.mayChange { writeActions(listing, to: &html) }
            html.element("div", ["class": "panels"]) { html in
                html.element("section") { html in
                    html.element("h2", DashboardText.settings)
                    html.facts(facts(of: link, app))
                }
                if let url = link.url(of: app), ending == nil { writeCode(link, url, to: &html) }
            }
            html.variants(listing, DashboardText.variants)
            writePreview(link.settings.preview, app, to: &html)
            let effects = LinkEffects.all(of: link.settings, in: app.settings.links, robots)
            let exports = PanelExports.showing(link.id)
            html.table(DashboardText.visitors, effects, exports: exports) { html, effects in
                html.rowName(effects.visitor)
                for text in effects.texts { html.cell(text, class: "any") }
            }
            if let first = link.settings.variants.first { html.note(DashboardText.firstVariant(first.name)) }
        }
        page.pictureSource = link.settings.preview.image?.policySource
        return .page(page)
    }

    /// Reads the link whose id is in the path.
    static func find(_ exchange: Exchange) async throws(APIError) -> LinkListing {
        do throws(APIError) {
            return try await LinkEndpoints.link(exchange)
        } catch {
            throw error.code == .notFound ? .notFound(DashboardText.noLink) : error
        }
    }

    private static func writeFigures(_ listing: LinkListing, to html: inout HTML) {
        let rate = listing.clicks > 0 ? Double(listing.matches) / Double(listing.clicks) : nil
        html.figures([
            (DashboardText.clicks, DashboardText.count(listing.clicks), nil),
            (DashboardText.matches, DashboardText.count(listing.matches), nil),
            (DashboardText.matchesOfClicks, DashboardText.percent(rate), nil),
            (DashboardText.robots, DashboardText.count(listing.robots), nil),
        ])
    }

    private static func facts(of link: Link, _ app: App) -> [(String, String)] {
        let shown = link.settings.fields.all.filter { field, _ in
            field.kind != .variants && !DashboardText.linkPreview.contains { $0.field == field }
        }
        return [(DashboardText.address, link.url(of: app) ?? "–"), (DashboardText.app, app.settings.name)]
            + shown.map { field, texts in (DashboardText.name(of: field), texts.joined(separator: ", ")) }
            + [
                (DashboardText.created, DashboardText.time(link.createdAt)),
                (DashboardText.changed, DashboardText.time(link.updatedAt)), ("ID", link.id.text),
            ]
    }

    private static func writeCode(_ link: Link, _ url: String, to html: inout HTML) {
        html.element("section") { html in
            html.element("h2", DashboardText.code)
            let file = "/links/\(link.id.text)/qr"
            let picture: HTML.Attributes = [
                "src": file + ".svg", "alt": DashboardText.codeOf(url), "width": "200", "height": "200",
                "id": "code",
            ]
            html.open("img", picture)
            html.element("p") { html in
                for format in QRPicture.Format.allCases {
                    let path = "\(file).\(format.rawValue)"
                    let name = DashboardText.download(format.rawValue.uppercased())
                    html.element("a", ["class": "button quiet", "href": path, "download": ""], name)
                }
            }
        }
    }

    /// `GET /links/{id}/qr.svg` and `…/qr.png`: the link's QR code, the same bytes as on the link host.
    static func code(_ format: QRPicture.Format, as type: ContentType) -> Routes.Page {
        { exchange, _ throws(APIError) in
            let listing = try await find(exchange)
            let (link, app) = (listing.link, exchange.directory.app(listing.link.app))
            if let ending = link.ending(at: exchange.now, clicks: listing.clicks) { throw .linkEnded(ending) }
            guard let url = app.flatMap(link.url(of:)) else { throw .notFound(DashboardText.noLinkHost) }
            let file = try ShowQRCode.file(format, of: url, link.settings, exchange)
            let fields = DashboardPage.fields + [ShowQRCode.fileName(link.slug.text, format)]
            return .response(Response(.ok, fields: fields, contentType: type, body: file))
        }
    }

    private static func writePreview(_ preview: Link.Preview, _ app: App, to html: inout HTML) {
        html.element("section") { html in
            html.element("h2", DashboardText.preview)
            if preview.image?.policySource != nil {
                let picture = preview.image?.text
                html.open("img", ["class": "preview", "src": picture, "alt": "", "id": "picture"])
            }
            html.facts([
                (DashboardText.name(of: .previewTitle), preview.title ?? app.settings.name),
                (DashboardText.name(of: .previewDescription), preview.description ?? "–"),
                (DashboardText.name(of: .previewImage), preview.image?.text ?? "–"),
            ])
        }
    }
}

/// What a person may do with a link.
extension LinkDetailPage {
    private static func writeActions(_ listing: LinkListing, to html: inout HTML) {
        let path = "/links/\(listing.link.id.text)"
        let isClicked = listing.clicks > 0 || listing.robots > 0
        html.element("div", ["class": "actions"]) { html in
            html.link(html.address.page("\(path)/edit"), class: "button", DashboardText.edit)
            let isLive = listing.link.archivedAt == nil
            let text = isLive ? DashboardText.archive : DashboardText.restore
            html.button("\(path)/\(isLive ? "archive" : "restore")", text)
            if !isClicked {
                html.element("details") { html in
                    html.element("summary", DashboardText.delete)
                    html.button("\(path)/delete", DashboardText.deleteForGood, class: nil)
                }
            }
        }
        if isClicked, let reason = LinkStoreError.clicked.advice {
            html.note(DashboardText.notDeletable(reason))
        }
    }

    /// `POST /links/{id}/archive` and `…/restore`: archives the link, or makes it lead somewhere again.
    static func setArchived(_ isArchived: Bool) -> Routes.Page {
        { exchange, _ throws(APIError) in
            let id = try await find(exchange).link.id
            try await LinkEndpoints.setArchived(isArchived, exchange)
            return .redirect(to: "/links/\(id.text)")
        }
    }

    /// `POST /links/{id}/delete`: deletes a link that was never clicked.
    static func delete(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        _ = try await find(exchange)
        try await LinkEndpoints.remove(exchange)
        return .redirect(to: "/links")
    }
}

extension HTML {
    /// Warns if the app has no link host, without which its links have no address.
    mutating func writeLinkWarnings(of app: App) {
        warnings(app.settings.links.hosts.isEmpty ? [DashboardText.noLinkHost] : [])
    }

    /// Writes the variants of a link with their counts, and their matches per click with a confidence interval.
    mutating func variants(_ listing: LinkListing, _ caption: String) {
        let variants = listing.link.settings.variants
        let total = variants.reduce(0) { $0 + $1.weight }
        let former = listing.variants.filter { counts in !variants.contains { $0.name == counts.name } }
        let rows: [(name: String, variant: Link.Variant?)] =
            variants.map { ($0.name, $0) } + former.map { ($0.name, nil) }
        guard !rows.isEmpty else { return }
        table([caption: DashboardText.variantHeadings], rows) { html, row in
            let share = row.variant.map { Double($0.weight) / Double(max(total, 1)) }
            let counts = listing.variants.first { $0.name == row.name }
            let (clicks, matches) = (counts?.clicks ?? 0, counts?.matches ?? 0)
            html.rowName(row.name)
            html.number(DashboardText.percent(share))
            html.cell(row.variant?.target.text ?? DashboardText.formerVariant, class: "any")
            html.counts(clicks, matches)
            html.number(DashboardText.rate(matches, of: clicks))
        }
        note(DashboardText.intervalExplained)
        exports(.showing(listing.link.id), of: caption)
    }
}

extension PanelExports {
    /// Returns the exports with the call and the command that show a link.
    fileprivate static func showing(_ link: LinkID) -> PanelExports {
        rows.calling("/admin/api/links/\(link.text)", command: ["links", "show", link.text])
    }
}
