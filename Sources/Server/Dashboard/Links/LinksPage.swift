internal import Attribution

/// The list of links, newest first; each row links to the page of its link.
enum LinksPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let query = try LinkEndpoints.query(exchange)
        let page = try await exchange.store(await exchange.stores.links.links(query))
        let groups = EventGroups.links(page.links.map(\.link.id.text))
        let sums = try await exchange.events(of: groups, StatisticsQuery(app: query.app))
        let (directory, now) = (exchange.directory, exchange.now)
        return .page(title: DashboardText.links) { html in
            if html.mayChange, !directory.apps.isEmpty {
                let new = html.address.page("/links/new")
                html.paragraph(linkingTo: new, class: "button", DashboardText.newLink)
            }
            writeImport(to: &html)
            writeFilters(query, to: &html)
            let texts = (reason(query, directory), DashboardText.olderLinks)
            html.list(page.links, limit: query.limit, next: page.next, texts: texts) { html in
                write(page.links, at: now, events: sums, exports(visit, query), to: &html)
            }
        }
    }

    private static func writeImport(to html: inout HTML) {
        html.element("details", ["class": "note"]) { html in
            html.element("summary", DashboardText.importLinks)
            html.paragraph(DashboardText.importExplained)
            html.commands("afterlink links import FILE --check")
            let log = DashboardAddress("/settings/audit").with("action", AuditAction.importLinks.rawValue)
            html.paragraph(linkingTo: log, DashboardText.formerImports)
        }
    }

    private static func exports(_ visit: DashboardVisit, _ query: LinkQuery) -> PanelExports {
        let items = ["app", "search", "campaign", "tag"].map { ($0, visit.address[$0]) }
        let exports = PanelExports.file("links")
            .calling("/admin/api/links", items + [("archived", visit.address["archived"])])
        // The command cannot list archived and other links together.
        guard let isArchived = query.isArchived else { return exports }
        return exports.running(["links", "list"], items + [("archived", isArchived ? "true" : nil)])
    }

    /// Returns why a page has no links, and what to do.
    private static func reason(_ query: LinkQuery, _ directory: Directory) -> String {
        if directory.apps.isEmpty { return DashboardText.noApp }
        var standard = LinkQuery(limit: query.limit)
        standard.search = query.search?.isEmpty == true ? "" : nil
        standard.app = query.app
        guard query == standard else { return DashboardText.noLinkFound }
        return query.app == nil ? DashboardText.noLinks : DashboardText.noLinksOfApp
    }

    private static func writeFilters(_ query: LinkQuery, to html: inout HTML) {
        html.filters("/links") { html in
            html.keepChoices(except: ["app"])
            html.appChoice(chosen: query.app)
            html.field("search", DashboardText.searchLinks, type: "search", query.search)
            html.field("campaign", DashboardText.campaign, query.campaignKey?.text)
            html.field("tag", DashboardText.tag, query.tag)
            let archived = query.isArchived.map { String($0) } ?? "any"
            html.select("archived", DashboardText.state, DashboardText.archivedChoices, chosen: archived)
        }
    }

    private static func write(
        _ links: [LinkListing],
        at now: Timestamp,
        events: [String: EventSums],
        _ exports: PanelExports,
        to html: inout HTML
    ) {
        let hasApps = html.directory.apps.count > 1
        let headings =
            DashboardText.linkHeadings + (events.isEmpty ? [] : DashboardText.valueHeadings)
            + (hasApps ? [DashboardText.app] : [])
        html.table([DashboardText.linkCaption: headings], links, exports: exports) { html, listing in
            let (link, settings) = (listing.link, listing.link.settings)
            html.rowName(link.slug.text, html.address.page("/links/\(link.id.text)"))
            let tags = settings.tags.isEmpty ? nil : settings.tags.joined(separator: ", ")
            html.cells(settings.title, settings.campaignKey?.text, tags)
            html.counts(listing.clicks, listing.matches)
            let state = DashboardText.state(link.ending(at: now, clicks: listing.clicks))
            html.cells(state, String(link.createdAt.iso8601.prefix(10)))
            if !events.isEmpty { html.values(events[link.id.text]) }
            if hasApps { html.cells(DashboardText.name(of: link.app, in: html.directory)) }
        }
    }
}
