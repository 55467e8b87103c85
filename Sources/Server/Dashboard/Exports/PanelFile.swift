internal import Attribution
internal import HTTPServer

/// `GET /export/{file}` of the dashboard: the figures of a panel, or the rows of a list, as CSV or as a JSON array, by
/// the filters of its page.
enum PanelFile {
    enum Format: String, CaseIterable {
        case csv
        case json

        /// Returns the response with a file.
        func response(_ body: PagedBody, named name: String) -> Response {
            let (type, file) = (self == .csv ? ContentType.csv : .json, "afterlink-\(name).\(rawValue)")
            return Response(body, type, named: file, fields: DashboardPage.fields)
        }

        func body(_ columns: [String], _ rows: [[ExportValue]]) -> PagedBody {
            var rest: [[ExportValue]]? = rows
            return body(columns) { rest.take() }
        }

        /// Returns a body with these columns, and with the rows that `nextPage` returns until it returns nil.
        func body(
            _ columns: [String],
            _ nextPage: @escaping () async throws -> [[ExportValue]]?
        ) -> PagedBody {
            guard self == .json else {
                return PagedBody(startingWith: ExportFormat.csv.start(columns)) {
                    try await nextPage()?.map { ExportFormat.csv.line($0, columns) }.joined()
                }
            }
            var (isFirst, hasEnded) = (true, false)
            return PagedBody(startingWith: "[") {
                guard let rows = try await nextPage() else {
                    defer { hasEnded = true }
                    return hasEnded ? nil : "\n]\n"
                }
                return rows.reduce(into: "") { text, row in
                    text += (isFirst ? "\n" : ",\n") + ExportFormat.ndjson.line(row, columns).dropLast()
                    isFirst = false
                }
            }
        }
    }

    /// The maximum number of groups in a file; a page shows the first of them.
    private static let groupLimit = 100_000

    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let file = exchange.parameter ?? ""
        let parts = file.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let format = Format(rawValue: parts[1]) else {
            throw .notFound(DashboardText.noPage)
        }
        let body: PagedBody
        var name = parts[0]
        switch parts[0] {
        case "overview":
            let filter = try DashboardFilter(exchange, isOfCounts: true)
            guard let panel: OverviewPanel = try exchange.word("panel") else {
                throw .missingField("panel", "The address of the file must name a panel")
            }
            name += "-\(panel.rawValue)"
            let reports = try await OverviewPage.reports(&exchange, filter, groupLimit: groupLimit)
            var (columns, rows) = panel.table(reports.0, reports.earlier, filter)
            if panel == .figures, let revenue = try await OverviewPage.events(exchange, filter)?.revenue {
                rows.append([.text("verified_revenue"), .text(revenue.text), .none])
            }
            body = format.body(columns, rows)
        default:
            guard let list = WholeList(rawValue: name) else { throw .notFound(DashboardText.noPage) }
            body = try await list.body(in: format, &exchange, visit)
        }
        return .response(format.response(body, named: name))
    }
}

/// The panels of the overview.
enum OverviewPanel: String, CaseIterable {
    case figures, series, campaigns, links, sources, platforms
    case osVersions = "os_versions"
    case browsers, hours, reasons

    /// A panel that lists groups: its title, how to read its groups from a report, and the name of the query item that
    /// selects one of them, if there is such an item.
    typealias List = (
        title: String, groups: KeyPath<StatisticsReport, [StatisticsReport.Group]>, item: String?
    )

    /// How the panel lists groups; nil for a panel that lists none.
    var list: List? {
        switch self {
        case .campaigns: (DashboardText.campaigns, \.byCampaign, "campaign")
        case .links: (DashboardText.links, \.byLink, "link")
        case .sources: (DashboardText.sources, \.bySource, "source")
        case .platforms: (DashboardText.platforms, \.byPlatform, "platform")
        case .osVersions: (DashboardText.osVersions, \.byOSVersion, "os_version")
        case .browsers: (DashboardText.browsers, \.byBrowser, "browser")
        case .hours: (DashboardText.hours, \.byHour, nil)
        case .figures, .series, .reasons: nil
        }
    }

    /// Returns the reasons for launches without a match, the most frequent first.
    static func reasons(in totals: Counts) -> [(NoMatchReason, Int64)] {
        NoMatchReason.allCases.map { ($0, totals[.noMatch($0)] ?? 0) }.filter { $0.1 > 0 }
            .sorted { $0.1 > $1.1 }
    }

    /// Returns the columns and rows of the panel's file; a rate is a share from 0 to 1.
    func table(_ report: StatisticsReport, _ earlier: StatisticsReport?, _ filter: DashboardFilter)
        -> (columns: [String], rows: [[ExportValue]])
    {
        switch self {
        case .figures:
            let names = [
                "clicks", "launches", "matches", "match_rate", "median_time_to_install_ms",
                "expected_conversions",
            ]
            let figures = zip(names, OverviewPage.figures((report, earlier), filter))
            let rows = figures.map {
                [.text($0), Self.figure($1.number), Self.figure($1.earlier)] as [ExportValue]
            }
            return (["figure", "value", "earlier"], rows)
        case .series:
            let chart = OverviewPage.chart(report, filter)
            let names = ["clicks", "launches", "matches"]
            let rows = chart.labels.indices.map { index in
                let counts = names.map { name in
                    let line = chart.series.first { $0.name.lowercased() == name }
                    return line?.values[index].map { ExportValue.integer($0) } ?? .none
                }
                let expected = chart.expected.isEmpty ? nil : chart.expected[index]
                return [.text(chart.labels[index])] + counts + [
                    .real(expected?.count), .real(expected?.spread),
                ]
            }
            return (["start"] + names + ["expected_conversions", "spread"], rows)
        case .campaigns, .links, .sources, .platforms, .osVersions, .browsers, .hours:
            let rows: [[ExportValue]] = (list.map { report[keyPath: $0.groups] } ?? []).map { group in
                let counts = group.counts
                return [
                    .text(group.name), .integer(counts[.clicks] ?? 0), .integer(counts[.matches] ?? 0),
                    .real(StatisticsBody.conversionRate(counts)),
                ]
            }
            return (["name", "clicks", "matches", "conversion_rate"], rows)
        case .reasons:
            let reasons = Self.reasons(in: report.totals)
            return (["reason", "launches"], reasons.map { [.text($0.rawValue), .integer($1)] })
        }
    }

    /// Returns a count as an integer, and a rate as a fraction.
    private static func figure(_ number: Double?) -> ExportValue {
        number.flatMap { Int64(exactly: $0) }.map(ExportValue.integer) ?? .real(number)
    }
}

extension DashboardFilter {
    /// The exports of a table of the page's figures: `/admin/stats` and `afterlink stats` give the same figures.
    var exports: PanelExports { .rows.calling("/admin/stats", command: ["stats"], statisticsItems) }

    /// Returns the exports of a panel of the overview, whose file may have more rows than the page.
    func exports(of panel: OverviewPanel) -> PanelExports {
        .file("overview", [("panel", panel.rawValue)])
            .calling("/admin/stats", command: ["stats"], statisticsItems)
    }

    /// The choices as items of `/admin/stats`, and as options of `afterlink stats`.
    var statisticsItems: PanelExports.Items {
        let query = query(span)
        let slice = query.slice.flatMap { slice in
            CountedValue.words.first { $0.dimension == slice.dimension }.map { ($0.word, slice.value) }
        }
        return [
            ("app", query.app?.text), ("test", query.isTest ? "true" : nil),
            ("campaign", query.campaign?.text), ("from", query.from?.iso8601), ("to", query.to?.iso8601),
            ("interval", query.interval.rawValue),
            ("offset", query.offset == 0 ? nil : "\(query.offset)"),
        ] + (slice.map { [$0] } ?? [])
    }
}
