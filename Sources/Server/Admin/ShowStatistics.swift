internal import Attribution
internal import HTTPServer

/// `GET /admin/stats`: what was counted, in totals and by app, campaign, source, platform and period.
enum ShowStatistics {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let query = try self.query(exchange)
        let report: StatisticsReport
        do throws(StoreError) {
            report = try await context.stores.statistics.statistics(query, at: exchange.now)
        } catch {
            throw APIError(error, requestID: exchange.requestID)
        }
        var body = StatisticsBody(
            report: report,
            query: query,
            directory: exchange.directory,
            now: exchange.now
        )
        body.version = context.service.settings.version
        body.uptimeSeconds = Int64(context.service.uptime / 1_000_000_000)
        body.warnings = warnings(exchange.directory, context.service.settings)
        return Response(.ok, json: body.json())
    }

    private static func query(_ exchange: Exchange) throws(APIError) -> StatisticsQuery {
        var query = StatisticsQuery()
        if let text = exchange.queryItem("app"), !text.isEmpty {
            guard let app = AppID(text), exchange.directory.app(app) != nil else {
                throw .invalidField("app", "names no app of this server")
            }
            query.app = app
        }
        if let text = exchange.queryItem("campaign"), !text.isEmpty {
            guard let campaign = CampaignKey(text) else {
                throw .invalidField("campaign", "may have \(CampaignKey.maximumLength) characters at most")
            }
            query.campaign = campaign
        }
        query.from = try time("from", exchange)
        query.to = try time("to", exchange)
        if let text = exchange.queryItem("interval") {
            guard let interval = StatisticsQuery.Interval(rawValue: text) else {
                throw .invalidField("interval", "must be hour or day")
            }
            query.interval = interval
        }
        if let from = query.from, let to = query.to, to < from {
            throw .invalidField("to", "lies before \"from\"")
        }
        switch exchange.queryItem("test") {
        case nil, "false", "0": break
        case "true", "1": query.isTest = true
        default: throw .invalidField("test", "must be true or false")
        }
        return query
    }

    /// A time or a date, whose first moment in UTC is meant.
    private static func time(_ name: String, _ exchange: Exchange) throws(APIError) -> Timestamp? {
        guard let text = exchange.queryItem(name), !text.isEmpty else { return nil }
        guard let time = Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "T00:00:00Z") else {
            throw .invalidField(
                name,
                "must be a date such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z"
            )
        }
        return time
    }

    private static func warnings(_ directory: Directory, _ settings: ServiceSettings) -> [String] {
        guard settings.usesTestClock else { return directory.warnings }
        return directory.warnings + [
            "the test clock is on: any request can set the time; never use it for real"
        ]
    }
}
