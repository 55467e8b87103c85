internal import Attribution

/// The events of a span: conversions per campaign, revenue per currency, and cohorts by the day of the match.
enum EventsPage {
    static let path = "/events"

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let filter = try DashboardFilter(exchange, isOfCounts: true)
        if let slice = filter.slice,
            let word = CountedValue.words.first(where: { $0.dimension == slice.dimension })
        {
            throw .invalidField(word.word, "does not limit the events; leave it out, or choose a campaign")
        }
        let query = EventQuery(filter.query(filter.span))
        let report = try await exchange.store(await exchange.stores.events.events(query))
        let slugs = try await exchange.slugs(ofLinks: report.byLink.map(\.name))
        let directory = exchange.directory
        return .page(title: DashboardText.events) { html in
            let campaign = filter.campaign?.text
            filter.writeForm(to: &html) { $0.field("campaign", DashboardText.campaign, campaign) }
            guard !report.totals.isEmpty else {
                let reason = filter.emptyReason(directory, DashboardText.noEvents(filter.span.text))
                return html.empty(reason)
            }
            for panel in EventPanel.allCases { panel.write(report, filter, slugs: slugs, to: &html) }
        }
    }
}

/// The panels of the page.
enum EventPanel: CaseIterable {
    case events, revenue, campaigns, links, sources, cohorts

    /// Writes the panel; nothing if it has no rows.
    func write(
        _ report: EventReport,
        _ filter: DashboardFilter,
        slugs: [String: String] = [:],
        to html: inout HTML
    ) {
        let (headings, rows) = table(report, at: filter.now)
        guard !rows.isEmpty else { return }
        html.element("h2", texts.title)
        html.table(texts.caption, headings, rows) { html, row in
            let name = row.first ?? ""
            html.rowName(slugs[name] ?? name, address(of: name, slugs, on: html.address))
            // All decimals here are amounts of money.
            for cell in row.dropFirst() { html.number(cell, isAmount: true) }
        }
        if let note { html.note(note) }
        let items = filter.statisticsItems.filter { $0.0 != "interval" }
        html.exports(.rows.calling("/admin/api/events/report", items), of: texts.caption)
    }

    /// Returns the address of the page about a row; nil for a row without one, such as the row of a deleted link.
    private func address(of name: String, _ slugs: [String: String], on page: DashboardAddress)
        -> DashboardAddress?
    {
        switch self {
        case .campaigns: page.page(OneCampaignPage.path).with("campaign", name)
        case .links: slugs[name].map { _ in page.page("/links/\(name)") }
        case .events, .revenue, .sources, .cohorts: nil
        }
    }

    /// The heading of the panel, and the caption of its table.
    private var texts: (title: String, caption: String) {
        switch self {
        case .events: (DashboardText.events, DashboardText.eventCaption)
        case .revenue: (DashboardText.revenue, DashboardText.revenueCaption)
        case .campaigns: (DashboardText.campaigns, DashboardText.eventsOfCampaigns)
        case .links: (DashboardText.links, DashboardText.eventsOfLinks)
        case .sources: (DashboardText.sources, DashboardText.eventsOfSources)
        case .cohorts: (DashboardText.cohorts, DashboardText.cohortCaption)
        }
    }

    private var note: String? {
        switch self {
        case .revenue: DashboardText.revenueExplained
        case .cohorts: DashboardText.cohortsExplained
        case .events, .campaigns, .links, .sources: nil
        }
    }

    /// Returns the headings and the texts of the rows.
    private func table(_ report: EventReport, at now: Timestamp) -> (headings: [String], rows: [[String]]) {
        switch self {
        case .events:
            let rows = report.totals.all.map { sum in
                [
                    sum.name, sum.currency?.code ?? "–", DashboardText.count(sum.events),
                    DashboardText.count(sum.installs),
                ] + DashboardText.amounts(sum)
            }
            return (DashboardText.eventHeadings, rows)
        case .revenue:
            let rows = report.totals.revenue.map { [$0.currency?.code ?? "–"] + DashboardText.amounts($0) }
            return (DashboardText.revenueHeadings, rows)
        case .campaigns: return groups(report.byCampaign)
        case .links: return groups(report.byLink)
        case .sources: return groups(report.bySource)
        case .cohorts:
            let rows = report.cohorts.map { cohort in
                [String(cohort.day.iso8601.prefix(10)), DashboardText.count(cohort.matches)]
                    + zip(EventCount.cohortDays, cohort.sums).map { day, sums in
                        cohort.hasBegun(day, at: now) ? DashboardText.cohort(sums) : "–"
                    }
            }
            return (DashboardText.cohortHeadings, rows.filter { $0.dropFirst(2).contains { $0 != "–" } })
        }
    }

    private func groups(_ groups: [EventReport.Group]) -> (headings: [String], rows: [[String]]) {
        let rows = groups.map { group in
            let purchases = group.sums.all.filter { $0.name == EventName.purchase.text }
            let buyers = purchases.reduce(0) { $0 + $1.installs }
            let share = group.matches > 0 ? Double(buyers) / Double(group.matches) : nil
            return [
                group.name, DashboardText.count(group.matches), DashboardText.count(group.sums.eventCount),
                DashboardText.count(buyers), DashboardText.percent(share), DashboardText.totals(group.sums),
            ]
        }
        return ([texts.title] + DashboardText.eventGroupHeadings, rows)
    }
}
