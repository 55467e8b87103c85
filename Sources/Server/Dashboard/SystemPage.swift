internal import Attribution
internal import HTTPServer

/// The state of this process, its database and its certificate, as `/readyz` and `/metrics` report them.
///
/// A key of one app sees only the state, the version and the uptime: the other figures and the log are about all apps.
enum SystemPage {
    static func make(_ exchange: inout Exchange, _ visit: DashboardVisit) async throws(APIError) -> Reply {
        let (service, now) = (exchange.service, exchange.now)
        let hindrance = CheckReadiness.hindrance(exchange)
        let (health, connections) = (service.storeHealth(), service.connections())
        var servers: [RunningServer] = []
        // If the database cannot be read, the page shows that, and does not fail.
        do throws(StoreError) { servers = try await exchange.stores.statistics.runningServers() } catch {}
        let process = service.process()
        let (uptime, dropped) = (Int64(service.uptime / 1_000_000), service.log.droppedLineCount)
        let errors = service.metrics.errorCounts()
        let version = service.settings.version
        let wanted = exchange.queryItem("request") ?? ""
        let lines = exchange.onlyApp == nil ? service.log.recent.lines(containing: wanted) : nil
        return .page(title: DashboardText.system) { [servers] html in
            let state = hindrance.map(DashboardText.notReady) ?? DashboardText.ready
            html.element("p", ["class": hindrance == nil ? "answer good" : "answer bad"], state)
            let facts = [
                (DashboardText.version, version),
                (DashboardText.uptime, ElapsedTime.text(milliseconds: uptime)),
            ]
            guard let lines else {
                html.facts(facts)
                return html.note(DashboardText.figuresOfAllApps)
            }
            html.facts(
                facts + [
                    (DashboardText.certificate, DashboardText.expiry(connections.certificateExpiry, at: now)),
                    (DashboardText.connections, DashboardText.count(connections.openConnections)),
                    (DashboardText.droppedLines, DashboardText.count(dropped)),
                ]
            )
            html.element("h2", DashboardText.database)
            html.facts(Self.facts(health))
            write(health.commitSeconds, to: &html)
            let refusals = health.refusals.map { ($0.key.rawValue, $0.value) }
            writeCounts(DashboardText.refusals, refusals, to: &html)
            writeCounts(DashboardText.errors, errors.map { ($0.key.rawValue, $0.value) }, to: &html)
            write(process, to: &html)
            write(servers, to: &html)
            write(lines, containing: wanted, to: &html)
        }
    }

    private static func facts(_ health: StoreHealth) -> [(String, String)] {
        let failure = health.lastFailure.map { "\($0.code.rawValue): \($0.explanation)" }
        let batches = health.batchSizes.count
        let batch = batches > 0 ? health.batchSizes.sum / Double(batches) : nil
        let free = health.freeBytes.map(DashboardText.bytes)
        let lag = ElapsedTime.text(milliseconds: health.retentionLagSeconds * 1000)
        return [
            (DashboardText.lastFailure, failure ?? "–"),
            (DashboardText.queue, DashboardText.count(health.queueLength)),
            (DashboardText.transactions, DashboardText.count(health.commitSeconds.count)),
            (DashboardText.batch, DashboardText.decimal(batch)),
            (DashboardText.databaseSize, DashboardText.bytes(health.databaseBytes)),
            (DashboardText.logSize, DashboardText.bytes(health.writeAheadLogBytes)),
            (DashboardText.freeSpace, free ?? DashboardText.unknownSpace),
            (DashboardText.lastBackup, DashboardText.backupNotRecorded),
            (DashboardText.retentionLag, health.retentionLagSeconds == 0 ? DashboardText.nothingDue : lag),
        ]
    }

    /// Writes how long commits took; before the first commit, a note replaces the chart.
    private static func write(_ commits: Histogram, to html: inout HTML) {
        guard commits.count > 0 else { return html.note(DashboardText.noCommit) }
        html.element("h2", DashboardText.commitTimes)
        let labels =
            commits.bounds.map { "≤ \(DashboardText.fraction($0 * 1000)) ms" } + [DashboardText.longer]
        var figures = ChartFigures(
            title: DashboardText.commitCaption,
            labels: labels,
            series: [ChartFigures.Series(name: DashboardText.transactions, values: commits.counts)]
        )
        figures.scale = DashboardText.durationHeading
        ColumnChart(figures: figures).write(to: &html)
        html.exports(exports, of: DashboardText.commitCaption)
    }

    private static let exports = PanelExports.rows.calling("/metrics")

    private static func writeCounts(_ title: String, _ counts: [(String, Int64)], to html: inout HTML) {
        guard !counts.isEmpty else { return }
        let (rows, headings) = (counts.sorted { $0.1 > $1.1 }, [DashboardText.reason, DashboardText.number])
        html.table([title: headings], rows, exports: exports) { html, row in
            html.rowName(row.0)
            html.number(DashboardText.count(row.1), bar: (row.1, rows[0].1))
        }
    }

    /// Writes the metrics of the process, under the sentences that explain them.
    private static func write(_ metrics: [MetricFamily], to html: inout HTML) {
        guard !metrics.isEmpty else { return }
        html.table(DashboardText.process, metrics, exports: exports) { html, metric in
            let name = metric.help.hasSuffix(".") ? String(metric.help.dropLast()) : metric.help
            html.rowName(name)
            html.number(DashboardText.figure(metric.samples.first?.2, of: metric.unit))
        }
    }

    private static func write(_ servers: [RunningServer], to html: inout HTML) {
        guard !servers.isEmpty else { return }
        let exports = PanelExports.rows.running(["doctor"])
        html.table(DashboardText.servers, servers, exports: exports) { html, server in
            html.rowName(String(server.number))
            html.cells(server.version)
            html.time(server.seenAt)
        }
    }

    /// Writes the last lines of the log, the newest first, and the form that searches them.
    private static func write(_ lines: [String], containing text: String, to html: inout HTML) {
        html.element("h2", ["id": "log"], DashboardText.logLines)
        html.filters("/system#log") { $0.field("request", DashboardText.requestID, text) }
        html.note(DashboardText.logExplained)
        guard !lines.isEmpty else { return html.note(DashboardText.noLogLine) }
        html.element("pre", ["tabindex": "0"], lines.reversed().joined(separator: "\n"))
    }
}
