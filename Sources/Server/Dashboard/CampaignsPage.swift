internal import Attribution

/// The campaigns of a span, a hundred a page, sorted by the address's `sort`.
enum CampaignsPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let filter = try DashboardFilter(exchange)
        var query = CampaignQuery(filter.query(filter.span))
        if filter.comparesSpans { query.earlier = filter.query(filter.span.earlier) }
        query.search = exchange.sentQueryItem("search")
        query.order = try exchange.word("sort") ?? .clicks
        let number = exchange.sentQueryItem("page").map { Int($0) ?? 0 } ?? 1
        guard number > 0 else { throw .invalidField("page", "must be a number from 1") }
        query.page = number - 1
        let page = try await exchange.store(await exchange.stores.statistics.campaigns(query))
        let groups = EventGroups.campaigns(page.rows.map(\.name))
        let sums = try await exchange.events(of: groups, filter.query(filter.span))
        return .page(title: DashboardText.campaigns) { [query] html in
            filter.writeForm(comparing: true, to: &html) { html in
                html.field("search", DashboardText.searchCampaigns, query.search)
                html.hidden("sort", query.order.rawValue)
            }
            guard !page.rows.isEmpty else {
                let isLimited = query.search != nil || query.page > 0
                let none = filter.emptyReason(DashboardText.noCampaign)
                return html.empty(isLimited ? DashboardText.noSuchCampaign : none)
            }
            write(page, query, events: sums, to: &html)
            // `/admin/stats` and the command cannot search.
            let exports = query.search == nil ? filter.exports : .rows
            html.exports(exports, of: DashboardText.campaignCaption)
            if query.earlier != nil { html.note(filter.comparison) }
            if page.isPartial { html.note(DashboardText.fewCampaigns) }
            writePages(page, query, to: &html)
        }
    }

    /// Writes the table; without times to install, events, or a span to compare with, it has fewer columns.
    private static func write(
        _ page: CampaignPage,
        _ query: CampaignQuery,
        events: [String: EventSums],
        to html: inout HTML
    ) {
        let hasTimes = page.rows.contains { $0.timeToInstall.total > 0 }
        let most = page.rows.map { $0.counts[.clicks] ?? 0 }.max() ?? 0
        let detail = html.address.page(OneCampaignPage.path)
        let headings = { (html: inout HTML) in
            func heading(_ text: String, _ order: CampaignQuery.Order?) {
                let isSorted = order == query.order
                let direction = order == .name ? "ascending" : "descending"
                html.element("th", ["scope": "col", "aria-sort": isSorted ? direction : nil]) { html in
                    guard let order, !isSorted else { return html.text(text) }
                    html.link(html.address.with("sort", order.rawValue).with("page", nil), text)
                }
            }
            func change() { if query.earlier != nil { heading(DashboardText.change, nil) } }
            heading(DashboardText.campaign, .name)
            heading(DashboardText.clicks, .clicks)
            change()
            heading(DashboardText.matches, .matches)
            change()
            heading(DashboardText.rate, .rate)
            heading(DashboardText.expected, .expected)
            if hasTimes { heading(DashboardText.medianTime, nil) }
            if !events.isEmpty { for text in DashboardText.valueHeadings { heading(text, nil) } }
        }
        html.table(DashboardText.campaignCaption, writeHeadings: headings, page.rows) { html, row in
            html.rowName(row.name, detail.with("campaign", row.name))
            for metric in [Metric.clicks, .matches] {
                let count = row.counts[metric] ?? 0
                html.number(DashboardText.count(count), bar: metric == .clicks ? (count, most) : nil)
                guard query.earlier != nil else { continue }
                let earlier = row.earlier.map { Double($0[metric] ?? 0) }
                html.number(DashboardText.change(from: earlier, to: Double(count)))
            }
            html.number(DashboardText.percent(StatisticsBody.conversionRate(row.counts)))
            html.number(DashboardText.expected(row.expected))
            if hasTimes { html.number(DashboardText.duration(row.timeToInstall.quantile(0.5))) }
            if !events.isEmpty { html.values(events[row.name]) }
        }
    }

    private static func writePages(_ page: CampaignPage, _ query: CampaignQuery, to html: inout HTML) {
        let first = query.page * CampaignQuery.pageSize
        let last = first + page.rows.count
        html.element("p") { html in
            html.text(DashboardText.shown(first + 1, last, of: page.count) + " ")
            if query.page > 0 {
                html.link(html.address.with("page", String(query.page)), DashboardText.before)
                html.text(" ")
            }
            if last < page.count {
                let next = html.address.with("page", String(query.page + 2))
                html.link(next, class: "next", DashboardText.after)
            }
        }
    }
}

/// One campaign: its figures, its counts over time, its funnel, its sources and its platforms.
enum OneCampaignPage {
    /// The campaign's key is in the query: as a part of the path, the key `..` would lead to another page.
    static let path = "/campaigns/one"

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        guard let campaign = try exchange.campaignItem() else {
            return .redirect(DashboardAddress("/campaigns"))
        }
        let filter = try DashboardFilter(exchange, isOfCounts: true)
        let (report, earlier) = try await OverviewPage.reports(&exchange, filter)
        var links = LinkQuery(isArchived: nil, limit: 100)
        (links.app, links.campaignKey) = (filter.app?.id, campaign)
        let found = try await exchange.store(await exchange.stores.links.links(links))
        let events = try await OverviewPage.events(exchange, filter, hasGroups: true)
        let isFull = found.links.count == links.limit
        return .page(title: DashboardText.title(ofCampaign: campaign.text)) { [earlier] html in
            filter.writeForm(comparing: true, to: &html) { $0.hidden("campaign", campaign.text) }
            if report.totals.values.contains(where: { $0 > 0 }) {
                let comparison = earlier.map { _ in filter.comparison }
                let revenue = events.map { [$0.revenue] } ?? []
                html.figures(figures((report, earlier)) + revenue, comparison: comparison)
                html.exports(filter.exports(of: .figures))
                write(report, filter, to: &html)
            } else {
                html.empty(filter.emptyReason(DashboardText.noCampaignTraffic(filter.span.text)))
            }
            if let report = events?.report { EventPanel.cohorts.write(report, filter, to: &html) }
            let launches = html.address.page("/launches").with("campaign", campaign.text)
            html.paragraph(linkingTo: launches, DashboardText.launchesOfCampaign)
            // An empty page that is not the last one does not prove that the campaign has no link.
            if !found.links.isEmpty || found.next == nil { write(found.links, to: &html) }
            html.searched(backTo: found.next?.time, isFull: isFull)
            if let next = found.next {
                let older = html.address.page("/links").with("campaign", campaign.text)
                    .with("archived", "any").with("before", next.text)
                html.next(older, DashboardText.olderLinks)
            }
        }
    }

    private static func figures(_ reports: (StatisticsReport, StatisticsReport?)) -> [Figure] {
        let times = Figure.medianTime(of: reports)
        return [
            Figure(DashboardText.clicks, Figure.whole, of: reports) { Double($0.totals[.clicks] ?? 0) },
            Figure(DashboardText.matches, Figure.whole, of: reports) { Double($0.totals[.matches] ?? 0) },
            Figure(DashboardText.rate, DashboardText.percent, of: reports) {
                StatisticsBody.conversionRate($0.totals)
            },
            Figure(DashboardText.expected, DashboardText.decimal, of: reports) { $0.expected.count },
        ] + (times.number == nil ? [] : [times])
    }

    private static func write(_ report: StatisticsReport, _ filter: DashboardFilter, to html: inout HTML) {
        let title = DashboardText.campaignChart(filter.span.text)
        let series = DashboardText.traffic(hasLaunches: false)
        LineChart(figures: filter.figures(title, of: report, series)).write(to: &html)
        html.exports(filter.exports(of: .series))
        let (clicks, exports) = (report.totals[.clicks] ?? 0, filter.exports)
        html.element("div", ["class": "panels"]) { html in
            let steps = [
                (DashboardText.opens, clicks + (report.totals[.robots] ?? 0)),
                (DashboardText.clicks, clicks), (DashboardText.matches, report.totals[.matches] ?? 0),
            ]
            html.element("div") { html in
                html.funnel(DashboardText.funnel, steps)
                html.exports(exports, of: DashboardText.funnel)
            }
            for panel in [OverviewPanel.sources, .platforms] {
                guard let list = panel.list else { continue }
                let exports = filter.exports(of: panel)
                html.panel(list.title, report[keyPath: list.groups], exports) { $0.rowName($1) }
            }
            html.findings(report.byPlayFinding, exports)
        }
        html.times(report.timeToInstall, exports)
    }

    private static func write(_ links: [LinkListing], to html: inout HTML) {
        guard !links.isEmpty else { return html.note(DashboardText.noLinkOfCampaign) }
        // The page lists archived links too; `afterlink links list` cannot list them together with others.
        let items = ["app", "campaign"].map { ($0, html.address[$0]) } + [("archived", "any")]
        let exports = PanelExports.file("links", [("archived", "any")]).calling("/admin/api/links", items)
        html.table(DashboardText.linksOfCampaign, links, exports: exports) { html, listing in
            html.rowName(listing.link.slug.text, html.address.page("/links/\(listing.link.id.text)"))
            html.counts(listing.clicks, listing.matches)
        }
        for listing in links where !listing.variants.isEmpty {
            html.variants(listing, DashboardText.variants(of: listing.link.slug.text))
        }
    }
}

extension DashboardFilter {
    /// Whether a page also shows the figures of the earlier span; the period of all time has no earlier span.
    var comparesSpans: Bool { compares && span.period != .all }

    /// Returns the reason why a span has no figures: no app, a span before the first app, or otherwise `sentence`.
    func emptyReason(_ sentence: String) -> String {
        if apps.isEmpty { return DashboardText.noApp }
        return span.to <= firstData ? DashboardText.beforeFirstData(firstData) : sentence
    }
}

extension HTML {
    /// Writes the cells of the number of events and of the verified revenue.
    mutating func values(_ sums: EventSums?) {
        let sums = sums ?? EventSums()
        counts(sums.eventCount)
        number(DashboardText.totals(sums))
    }
}
