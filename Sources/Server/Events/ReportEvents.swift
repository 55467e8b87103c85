public import Attribution
internal import HTTPServer
public import JSON

/// `GET /admin/api/events/report`: reports events, conversions, revenue and cohorts of a time span.
enum ReportEvents {
    static let items = ["app", "campaign", "from", "offset", "test", "to"]

    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        var span = StatisticsQuery(app: try exchange.appItem()?.id, isTest: try exchange.testItem())
        span.campaign = try exchange.campaignItem()
        (span.from, span.to) = try exchange.rangeItems()
        span.offset = try exchange.offsetItem()
        let query = EventQuery(span)
        let report = try await exchange.store(await exchange.stores.events.events(query))
        return Response(.ok, json: EventReportBody.json(report, at: exchange.now))
    }
}

extension EventReport.Cohort {
    /// Returns whether the day that comes `day` days after the day of the matches has begun.
    ///
    /// A day that has not begun has no sums.
    func hasBegun(_ day: Int64, at now: Timestamp) -> Bool {
        now.milliseconds(since: self.day) >= day * 86_400_000
    }
}

/// The JSON of a report of events.
public enum EventReportBody {
    public static func json(_ report: EventReport, at now: Timestamp) -> JSONWriter {
        .object { json in
            json.member("matches", report.matches)
            write(report.totals, to: &json)
            for (name, key, groups) in [
                ("campaigns", "campaign", report.byCampaign), ("links", "link", report.byLink),
                ("sources", "source", report.bySource),
            ] {
                json.objects(name, groups) { json, group in
                    json.member(key, group.name)
                    json.member("matches", group.matches)
                    write(group.sums, to: &json)
                }
            }
            json.objects("cohorts", report.cohorts) { json, cohort in
                json.member("day", String(cohort.day.iso8601.prefix(10)))
                json.member("matches", cohort.matches)
                json.objects("ages", Array(zip(EventCount.cohortDays, cohort.sums))) { json, age in
                    json.member("day", age.0)
                    if cohort.hasBegun(age.0, at: now) {
                        write(age.1, to: &json)
                    } else {
                        for name in ["events", "revenue"] { json.member(name) { $0.null() } }
                    }
                }
            }
        }
    }

    /// Writes the events by name and currency, and the revenue by currency.
    private static func write(_ sums: EventSums, to json: inout JSONWriter) {
        json.objects("events", sums.all) { json, sum in
            json.member("name", sum.name)
            json.member("events", sum.events)
            json.member("installs", sum.installs)
            if let currency = sum.currency { write(sum, currency, to: &json) }
        }
        json.objects("revenue", sums.revenue) { json, sum in
            if let currency = sum.currency { write(sum, currency, to: &json) }
        }
    }

    private static func write(_ sum: EventSum, _ currency: Currency, to json: inout JSONWriter) {
        json.member("currency", currency.code)
        json.member("reported", Money(sum.reported, currency).text)
        json.member("verified", Money(sum.verified, currency).text)
        json.member("total", Money(sum.verified, currency).text)
    }
}
