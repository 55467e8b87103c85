internal import Attribution

/// The list of links, newest first; each row links to the page of its link.
enum LinksPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let query = try LinkEndpoints.query(exchange)
        let page = try await exchange.store(await exchange.stores.links.links(query))
        let sums = try await exchange.store(
            await exchange.stores.events.eventSums(
                of: .links(page.links.map(\.link.id.text)),
                EventQuery(StatisticsQuery(app: query.app))
            )
        )
        let (directory, now) = (exchange.directory, exchange.now)
        return .page(title: DashboardText.links) { html in
            if visit.mayChange, !directory.apps.isEmpty {
                html.element("p") { html in
                    html.link(visit.address.page("/links/new"), class: "button", DashboardText.newLink)
                }
            }
            writeImport(to: &html)
            writeFilters(query, directory.apps, visit, to: &html)
            if page.links.isEmpty {
                if page.next == nil { html.empty(reason(query, directory)) }
            } else {
                write(page.links, directory, visit, at: now, events: sums, to: &html)
                html.exports(exports(visit, query))
            }
            html.searched(backTo: page.next?.time, isFull: page.links.count == query.limit)
            if let next = page.next {
                html.next(visit.address.with("before", next.text), DashboardText.olderLinks)
            }
        }
    }

    private static func writeImport(to html: inout HTML) {
        html.element("details", ["class": "note"]) { html in
            html.element("summary", DashboardText.importLinks)
            html.paragraph(DashboardText.importExplained)
            html.element("pre", ["class": "copy", "tabindex": "0"], "afterlink links import FILE --check")
            let log = DashboardAddress("/settings/audit").with("action", AuditAction.importLinks.rawValue)
            html.element("p") { $0.link(log, DashboardText.formerImports) }
        }
    }

    private static func exports(_ visit: DashboardVisit, _ query: LinkQuery) -> PanelExports {
        let items = ["app", "search", "campaign", "tag"].map { ($0, visit.address[$0]) }
        let exports = PanelExports("links", of: visit.address)
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

    private static func writeFilters(
        _ query: LinkQuery,
        _ apps: [App],
        _ visit: DashboardVisit,
        to html: inout HTML
    ) {
        html.filters("/links") { html in
            html.keepChoices(of: visit.address, except: ["app"])
            html.appChoice(apps, chosen: query.app)
            html.field("search", DashboardText.searchLinks, type: "search", query.search)
            html.field("campaign", DashboardText.campaign, query.campaignKey?.text)
            html.field("tag", DashboardText.tag, query.tag)
            let archived = query.isArchived.map { String($0) } ?? "any"
            html.select("archived", DashboardText.state, DashboardText.archivedChoices, chosen: archived)
        }
    }

    private static func write(
        _ links: [LinkListing],
        _ directory: Directory,
        _ visit: DashboardVisit,
        at now: Timestamp,
        events: [String: EventSums],
        to html: inout HTML
    ) {
        let hasApps = directory.apps.count > 1
        let headings =
            DashboardText.linkHeadings + (events.isEmpty ? [] : DashboardText.valueHeadings)
            + (hasApps ? [DashboardText.app] : [])
        html.table(DashboardText.linkCaption, headings, links) { html, listing in
            let (link, settings) = (listing.link, listing.link.settings)
            html.rowName(link.slug.text, visit.address.page("/links/\(link.id.text)"))
            html.element("td", settings.title ?? "–")
            html.element("td", settings.campaignKey?.text ?? "–")
            html.element("td", settings.tags.isEmpty ? "–" : settings.tags.joined(separator: ", "))
            html.number(DashboardText.count(Int64(listing.clicks)))
            html.number(DashboardText.count(Int64(listing.matches)))
            html.element("td", DashboardText.state(link.ending(at: now, clicks: listing.clicks)))
            html.element("td", String(link.createdAt.iso8601.prefix(10)))
            if !events.isEmpty { html.values(events[link.id.text]) }
            if hasApps { html.element("td", DashboardText.name(of: link.app, in: directory)) }
        }
    }
}
