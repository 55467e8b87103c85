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
            html.element("p") { html in
                let days = visit.address.page("/").with("from", nil).with("to", nil)
                    .with("link", link.id.text).with("period", "30d")
                html.link(days, DashboardText.clicksByDay)
            }
            writeActions(listing, visit, to: &html)
            html.element("div", ["class": "panels"]) { html in
                html.element("section") { html in
                    html.element("h2", DashboardText.facts)
                    html.facts(facts(of: link, app))
                }
                if let url = link.url(of: app), ending == nil { writeCode(link, url, to: &html) }
            }
            html.variants(listing, DashboardText.variants, visit)
            writePreview(link.settings.preview, app, to: &html)
            let effects = LinkEffects.all(of: link.settings, in: app.settings.links, robots)
            html.table(DashboardText.visitors, DashboardText.visitorHeadings, effects) { html, effects in
                html.rowName(effects.visitor)
                for text in effects.texts { html.element("td", ["class": "any"], text) }
            }
            html.exports(PanelExports(table: DashboardText.visitors, of: visit.address).showing(link.id))
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
            (DashboardText.clicks, DashboardText.count(Int64(listing.clicks)), nil),
            (DashboardText.matches, DashboardText.count(Int64(listing.matches)), nil),
            (DashboardText.matchesOfClicks, DashboardText.percent(rate), nil),
            (DashboardText.robots, DashboardText.count(Int64(listing.robots)), nil),
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
            let text = DashboardText.codeOf(url)
            html.open(
                "img",
                ["src": file + ".svg", "alt": text, "width": "200", "height": "200", "id": "code"]
            )
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
                html.open(
                    "img",
                    ["class": "preview", "src": preview.image?.text, "alt": "", "id": "picture"]
                )
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
    private static func writeActions(_ listing: LinkListing, _ visit: DashboardVisit, to html: inout HTML) {
        guard visit.mayChange else { return }
        let path = "/links/\(listing.link.id.text)"
        func form(_ action: String, _ text: String, class style: String? = nil, to html: inout HTML) {
            html.action("\(path)/\(action)", visit) { $0.element("button", ["class": style], text) }
        }
        let isClicked = listing.clicks > 0 || listing.robots > 0
        html.element("div", ["class": "actions"]) { html in
            html.link(visit.address.page("\(path)/edit"), class: "button", DashboardText.edit)
            if listing.link.archivedAt == nil {
                form("archive", DashboardText.archive, class: "quiet", to: &html)
            } else {
                form("restore", DashboardText.restore, class: "quiet", to: &html)
            }
            if !isClicked {
                html.element("details") { html in
                    html.element("summary", DashboardText.delete)
                    form("delete", DashboardText.deleteForGood, to: &html)
                }
            }
        }
        if isClicked, let reason = LinkStoreError.clicked.advice {
            html.note(DashboardText.notDeletable(reason))
        }
    }

    /// `POST /links/{id}/archive` and `…/restore`: archives the link, or makes it lead somewhere again.
    static func setArchived(_ isArchived: Bool) -> Routes.Action {
        { exchange, _ throws(APIError) in
            let id = try await find(exchange).link.id
            try await LinkEndpoints.setArchived(isArchived, exchange)
            return DashboardPage.redirect(to: "/links/\(id.text)")
        }
    }

    /// `POST /links/{id}/delete`: deletes a link that was never clicked.
    static func delete(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError)
        -> Response
    {
        _ = try await find(exchange)
        try await LinkEndpoints.remove(exchange)
        return DashboardPage.redirect(to: "/links")
    }
}

extension HTML {
    /// Warns if the app lacks a setting without which its links do less than expected.
    mutating func writeLinkWarnings(of app: App) {
        guard app.settings.links.hosts.isEmpty else { return }
        element("ul", ["class": "warnings", "aria-label": DashboardText.warnings]) { html in
            html.element("li") { $0.prose(DashboardText.noLinkHost) }
        }
    }

    /// Writes the variants of a link with their counts, and their matches per click with a confidence interval.
    mutating func variants(_ listing: LinkListing, _ caption: String, _ visit: DashboardVisit) {
        let variants = listing.link.settings.variants
        let total = variants.reduce(0) { $0 + $1.weight }
        let former = listing.variants.filter { counts in !variants.contains { $0.name == counts.name } }
        let rows: [(name: String, variant: Link.Variant?)] =
            variants.map { ($0.name, $0) } + former.map { ($0.name, nil) }
        guard !rows.isEmpty else { return }
        table(caption, DashboardText.variantHeadings, rows) { html, row in
            let share = row.variant.map { Double($0.weight) / Double(max(total, 1)) }
            let counts = listing.variants.first { $0.name == row.name }
            let (clicks, matches) = (counts?.clicks ?? 0, counts?.matches ?? 0)
            html.rowName(row.name)
            html.number(DashboardText.percent(share))
            html.element("td", ["class": "any"], row.variant?.target.text ?? DashboardText.formerVariant)
            html.number(DashboardText.count(Int64(clicks)))
            html.number(DashboardText.count(Int64(matches)))
            html.number(DashboardText.rate(matches, of: clicks))
        }
        note(DashboardText.intervalExplained)
        exports(PanelExports(table: caption, of: visit.address).showing(listing.link.id))
    }
}

extension PanelExports {
    /// Adds the call and the command that show a link.
    fileprivate func showing(_ link: LinkID) -> PanelExports {
        calling("/admin/api/links/\(link.text)", command: ["links", "show", link.text])
    }
}
