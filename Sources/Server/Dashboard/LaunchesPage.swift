internal import Attribution

/// The list of recorded launches, newest first; each row links to the reasons for the launch's result.
enum LaunchesPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        if let found = exchange.sentQueryItem("find") {
            return .redirect(try await DashboardSearch.address(of: found, exchange))
        }
        let filter = try DashboardFilter(exchange)
        let query = try query(exchange, filter)
        let page = try await exchange.store(await exchange.stores.checks.checks(query))
        return .page(title: DashboardText.launches) { html in
            filter.writeForm(to: &html) { writeChoices(query, to: &$0) }
            let texts = (DashboardText.noLaunches(filter.span.text), DashboardText.older)
            html.list(page.records, limit: query.limit, next: page.next, texts: texts) { html in
                write(page.records, exports(visit, query), to: &html)
            }
        }
    }

    static func query(_ exchange: Exchange, _ filter: DashboardFilter) throws(APIError) -> CheckQuery {
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
        return query
    }

    private static func exports(_ visit: DashboardVisit, _ query: CheckQuery) -> PanelExports {
        let items = [
            ("app", query.app?.text), ("from", query.from?.iso8601), ("to", query.to?.iso8601),
            ("outcome", query.outcome?.rawValue), ("reason", query.reason?.rawValue),
            ("campaign", query.campaign?.text), ("fingerprint", visit.address["fingerprint"]),
            ("method", query.method?.rawValue), ("platform", query.platform?.rawValue),
            ("os_version", query.osVersion), ("sdk", query.sdk), ("test", query.isTest ? "true" : nil),
        ]
        return .file("launches").calling("/admin/api/checks", command: ["checks"], items)
    }

    private static func writeChoices(_ query: CheckQuery, to html: inout HTML) {
        html.choice("outcome", DashboardText.outcome, of: query.outcome) { DashboardText.name(of: $0) }
        html.choice("reason", DashboardText.reason, of: query.reason, \.name)
        html.field("campaign", DashboardText.campaign, query.campaign?.text)
        html.choice("method", DashboardText.method, of: query.method) { DashboardText.name(of: $0) }
        html.choice("platform", DashboardText.platform, of: query.platform, DashboardText.words)
        html.field("os_version", DashboardText.osVersion, query.osVersion)
        html.field("sdk", "SDK", query.sdk)
    }

    private static func write(_ records: [RecordedCheck], _ exports: PanelExports, to html: inout HTML) {
        // Records are stored in the order of their ids. This is the order in which they were written, which differs a
        // little from the order of the launches.
        let rows = records.sorted { ($0.facts.at, $0.id) > ($1.facts.at, $1.id) }
        html.table(DashboardText.launchTable, rows, exports: exports) {
            let facts = $1.facts
            $0.rowName(DashboardText.time(facts.at), $0.address.page("/launches/\($1.id.text)"))
            $0.cell(DashboardText.answer(facts), class: facts.outcome == .noMatch ? "bad" : "good")
            $0.cells(DashboardText.name(of: facts.method))
            $0.number(DashboardText.percent(facts.confidence))
            $0.cells($1.campaign?.text, DashboardText.device(facts), facts.sdkVersion)
            $0.cells(DashboardText.name(of: $1.app, in: $0.directory))
        }
    }
}
