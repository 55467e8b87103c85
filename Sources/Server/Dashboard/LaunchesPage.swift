internal import Attribution

/// The list of recorded launches, newest first; each row links to the reasons for the launch's result.
enum LaunchesPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        if let found = exchange.sentQueryItem("find") {
            return .redirect(try await DashboardSearch.address(of: found, exchange))
        }
        let filter = try DashboardFilter(exchange)
        let (query, period) = try query(exchange, filter)
        let page = try await exchange.store(await exchange.stores.checks.checks(query))
        let directory = exchange.directory
        return .page(title: DashboardText.launches) { html in
            filter.writeForm(visit, to: &html) { writeChoices(query, to: &$0) }
            if page.records.isEmpty {
                if page.next == nil { html.empty(DashboardText.noLaunches(period)) }
            } else {
                write(page.records, directory, visit, to: &html)
                html.exports(exports(visit, query))
            }
            html.searched(backTo: page.next?.time, isFull: page.records.count == query.limit)
            if let next = page.next {
                html.next(visit.address.with("before", next.text), DashboardText.older)
            }
        }
    }

    static func query(_ exchange: Exchange, _ filter: DashboardFilter) throws(APIError)
        -> (CheckQuery, period: String)
    {
        var query = CheckQuery(app: filter.app?.id, isTest: filter.isTest)
        query.campaign = try exchange.campaignItem()
        query.outcome = try exchange.word("outcome")
        query.reason = try exchange.word("reason")
        try exchange.readDevice(into: &query)
        (query.from, query.to) = (filter.span.from, filter.span.to)
        query.before = try exchange.pageItem("chk_…") { CheckID($0) }
        if let text = exchange.sentQueryItem("fingerprint") {
            guard let fingerprint = Fingerprint(hex: text) else { throw .invalidFingerprint }
            query.fingerprints = exchange.keys.keyed(fingerprint)
        }
        return (query, filter.span.text)
    }

    private static func exports(_ visit: DashboardVisit, _ query: CheckQuery) -> PanelExports {
        let items = [
            ("app", query.app?.text), ("from", query.from?.iso8601), ("to", query.to?.iso8601),
            ("outcome", query.outcome?.rawValue), ("reason", query.reason?.rawValue),
            ("campaign", query.campaign?.text), ("fingerprint", visit.address["fingerprint"]),
            ("method", query.method?.rawValue), ("platform", query.platform?.rawValue),
            ("os_version", query.osVersion), ("sdk", query.sdk), ("test", query.isTest ? "true" : nil),
        ]
        return PanelExports("launches", of: visit.address)
            .calling("/admin/api/checks", command: ["checks"], items)
    }

    private static func writeChoices(_ query: CheckQuery, to html: inout HTML) {
        let outcomes =
            [("", DashboardText.any)]
            + CheckOutcome.allCases.map { ($0.rawValue, DashboardText.name(of: $0)) }
        html.select("outcome", DashboardText.outcome, outcomes, chosen: query.outcome?.rawValue ?? "")
        let reasons = [("", DashboardText.any)] + NoMatchReason.allCases.map { ($0.rawValue, $0.name) }
        html.select("reason", DashboardText.reason, reasons, chosen: query.reason?.rawValue ?? "")
        html.field("campaign", DashboardText.campaign, query.campaign?.text)
        let any = [("", DashboardText.any)]
        let methods = any + AttributionMethod.allCases.map { ($0.rawValue, DashboardText.name(of: $0)) }
        html.select("method", DashboardText.method, methods, chosen: query.method?.rawValue ?? "")
        let platforms = any + Platform.allCases.map { ($0.rawValue, DashboardText.words($0.rawValue)) }
        html.select("platform", DashboardText.platform, platforms, chosen: query.platform?.rawValue ?? "")
        html.field("os_version", DashboardText.osVersion, query.osVersion)
        html.field("sdk", "SDK", query.sdk)
    }

    private static func write(
        _ records: [RecordedCheck],
        _ directory: Directory,
        _ visit: DashboardVisit,
        to html: inout HTML
    ) {
        // Records are stored in the order of their ids. This is the order in which they were written, which differs a
        // little from the order of the launches.
        let newestFirst = records.sorted { ($0.facts.at, $0.id) > ($1.facts.at, $1.id) }
        html.table(DashboardText.launchCaption, DashboardText.launchHeadings, newestFirst) { html, record in
            let facts = record.facts
            html.rowName(DashboardText.time(facts.at), visit.address.page("/launches/\(record.id.text)"))
            html.element(
                "td",
                ["class": facts.outcome == .noMatch ? "bad" : "good"],
                DashboardText.answer(facts)
            )
            html.element("td", DashboardText.name(of: facts.method))
            html.number(DashboardText.percent(facts.confidence))
            html.element("td", record.campaign?.text ?? "–")
            html.element("td", DashboardText.device(facts))
            html.element("td", facts.sdkVersion ?? "–")
            html.element("td", DashboardText.name(of: record.app, in: directory))
        }
    }
}

extension HTML {
    /// Writes how far back a list was searched, if a limit ended the search before the page was full.
    mutating func searched(backTo time: Timestamp?, isFull: Bool) {
        guard let time, !isFull else { return }
        note(DashboardText.searched(backTo: time))
    }
}
