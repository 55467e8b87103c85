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
        return .page(title: DashboardText.events) { html in
            let campaign = filter.campaign?.text
            filter.writeForm(to: &html) { $0.field("campaign", DashboardText.campaign, campaign) }
            guard !report.totals.isEmpty else {
                return html.empty(filter.emptyReason(DashboardText.noEvents(filter.span.text)))
            }
            for panel in EventPanel.all { panel.write(report, filter, slugs: slugs, to: &html) }
        }
    }
}

/// A panel of the page: its heading, its table, and how to read the table's rows from a report.
struct EventPanel: Sendable {
    let title: String
    let table: TableText
    var note: String?
    /// Returns the address of the page about a row; nil for a row without a page.
    ///
    /// `isKnown` states whether the row's name is the id of a stored link.
    var address: (@Sendable (_ name: String, _ isKnown: Bool, _ page: DashboardAddress) -> DashboardAddress?)?
    let rows: @Sendable (EventReport, _ now: Timestamp) -> [[String]]

    /// Writes the panel; nothing if it has no rows.
    func write(
        _ report: EventReport,
        _ filter: DashboardFilter,
        slugs: [String: String] = [:],
        to html: inout HTML
    ) {
        let rows = rows(report, filter.now)
        guard !rows.isEmpty else { return }
        html.element("h2", title)
        html.table(table, rows) { html, row in
            let name = row.first ?? ""
            html.rowName(slugs[name] ?? name, address?(name, slugs[name] != nil, html.address))
            // All decimals here are amounts of money.
            for cell in row.dropFirst() { html.number(cell, isAmount: true) }
        }
        if let note { html.note(note) }
        let items = filter.statisticsItems.filter { $0.0 != "interval" }
        html.exports(.rows.calling("/admin/api/events/report", items), of: table.caption)
    }
}

extension EventPanel {
    static let all = [
        EventPanel(title: DashboardText.events, table: DashboardText.eventTable) { report, _ in
            report.totals.all.map { sum in
                let (events, installs) = (DashboardText.count(sum.events), DashboardText.count(sum.installs))
                return [sum.name, sum.currency?.code ?? "–", events, installs] + DashboardText.amounts(sum)
            }
        },
        EventPanel(
            title: DashboardText.revenue,
            table: DashboardText.revenueTable,
            note: DashboardText.revenueExplained
        ) { report, _ in
            report.totals.revenue.map { [$0.currency?.code ?? "–"] + DashboardText.amounts($0) }
        },
        groups(DashboardText.campaigns, DashboardText.eventsOfCampaigns, \.byCampaign) { name, _, page in
            page.page(OneCampaignPage.path).with("campaign", name)
        },
        groups(DashboardText.links, DashboardText.eventsOfLinks, \.byLink) { name, isKnown, page in
            isKnown ? page.page("/links/\(name)") : nil
        },
        groups(DashboardText.sources, DashboardText.eventsOfSources, \.bySource) { _, _, _ in nil },
        cohorts,
    ]

    static let cohorts = EventPanel(
        title: DashboardText.cohorts,
        table: DashboardText.cohortTable,
        note: DashboardText.cohortsExplained
    ) { report, now in
        let rows = report.cohorts.map { cohort in
            [String(cohort.day.iso8601.prefix(10)), DashboardText.count(cohort.matches)]
                + zip(EventCount.cohortDays, cohort.sums).map { day, sums in
                    cohort.hasBegun(day, at: now) ? DashboardText.cohort(sums) : "–"
                }
        }
        return rows.filter { $0.dropFirst(2).contains { $0 != "–" } }
    }

    /// Returns a panel of the values of a dimension.
    private static func groups(
        _ title: String,
        _ caption: String,
        _ groups: any KeyPath<EventReport, [EventReport.Group]> & Sendable,
        address: @escaping @Sendable (String, Bool, DashboardAddress) -> DashboardAddress?
    ) -> EventPanel {
        let table: TableText = [caption: [title] + DashboardText.eventGroupHeadings]
        return EventPanel(title: title, table: table, address: address) { report, _ in
            report[keyPath: groups].map { group in
                let purchases = group.sums.all.filter { $0.name == EventName.purchase.text }
                let buyers = purchases.reduce(0) { $0 + $1.installs }
                let share = group.matches > 0 ? Double(buyers) / Double(group.matches) : nil
                let numbers = [group.matches, group.sums.eventCount, buyers].map { DashboardText.count($0) }
                return [group.name] + numbers + [
                    DashboardText.percent(share), DashboardText.totals(group.sums),
                ]
            }
        }
    }
}
