internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /admin/stats`: reports the counts, in totals and by app, campaign, source, platform and period.
enum ShowStatistics {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let query = try self.query(exchange)
        let now = exchange.now
        let report = try await exchange.store(await context.stores.statistics.statistics(query, at: now))
        var body = StatisticsBody(
            report: report,
            query: query,
            directory: exchange.directory,
            now: now
        )
        body.version = context.service.settings.version
        body.uptimeSeconds = Int64(context.service.uptime / 1_000_000_000)
        body.domainCopies = context.service.settings.domainWatch?.all ?? []
        body.warnings =
            warnings(exchange.directory, context.service.settings)
            + exchange.directory.policyWarnings(report.policyFigures(of: query))
        return Response(.ok, json: body.json())
    }

    private static func query(_ exchange: Exchange) throws(APIError) -> StatisticsQuery {
        var query = StatisticsQuery()
        query.app = try exchange.appItem()?.id
        query.campaign = try exchange.campaignItem()
        (query.from, query.to) = try exchange.rangeItems()
        if let text = exchange.queryItem("interval") {
            guard let interval = StatisticsQuery.Interval(rawValue: text) else {
                throw .invalidField("interval", "must be hour or day")
            }
            query.interval = interval
        }
        query.isTest = try exchange.testItem()
        return query
    }

    private static func warnings(_ directory: Directory, _ settings: ServiceSettings) -> [String] {
        guard settings.usesTestClock else { return directory.warnings }
        return directory.warnings + [
            "the test clock is on: any request can set the time; never use it for real"
        ]
    }
}
