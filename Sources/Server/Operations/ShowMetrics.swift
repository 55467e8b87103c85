internal import Attribution
internal import DomainFiles
internal import HTTPServer

/// `GET /metrics`: reports metrics in Prometheus' text exposition format, version 0.0.4.
enum ShowMetrics {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var text = MetricsText()
        let service = context.service
        text.header("afterlink_build_info", .gauge, "Always 1; the label has the version.")
        text.sample("afterlink_build_info", [("version", service.settings.version)], 1)
        text.header("afterlink_uptime_seconds", .gauge, "Seconds since the start.")
        text.sample("afterlink_uptime_seconds", [], Double(service.uptime) / 1_000_000_000)
        requests(service.metrics.counts(), &text)
        errors(service.metrics.errorCounts(), &text)
        let statistics = service.connections()
        connections(statistics, &text)
        tls(statistics, &text)
        try await facts(context, exchange, &text)
        store(service.storeHealth(), &text)
        domainFiles(service.settings.domainWatch?.all ?? [], &text)
        text.header("afterlink_log_dropped_lines_total", .counter, "Log lines that were dropped.")
        text.sample("afterlink_log_dropped_lines_total", [], Double(service.log.droppedLineCount))
        samples(service.process(), &text)
        return Response(
            .ok,
            fields: [.noStore],
            contentType: ContentType("text/plain; version=0.0.4; charset=utf-8"),
            body: text.bytes
        )
    }

    private static func requests(
        _ routes: [(route: String, counts: LoopMetrics.RouteCounts)],
        _ text: inout MetricsText
    ) {
        text.header("afterlink_http_requests_total", .counter, "Requests by route and status.")
        for (route, counts) in routes {
            for (status, count) in counts.statuses.sorted(by: { $0.key < $1.key }) {
                let labels = [("route", route), ("status", String(status))]
                text.sample("afterlink_http_requests_total", labels, Double(count))
            }
        }
        text.header(
            "afterlink_http_request_duration_seconds",
            .histogram,
            "From a request's first byte to its response."
        )
        for (route, counts) in routes where counts.durations.contains(where: { $0 > 0 }) {
            text.histogram(
                "afterlink_http_request_duration_seconds",
                [("route", route)],
                bounds: LoopMetrics.bounds.map { Double($0) / 1_000_000 },
                counts: counts.durations,
                sum: Double(counts.totalMicroseconds) / 1_000_000
            )
        }
    }

    private static func errors(_ counts: [APIError.Code: Int64], _ text: inout MetricsText) {
        text.header("afterlink_http_errors_total", .counter, "Error responses, by their code.")
        for code in APIError.Code.allCases {
            guard let count = counts[code] else { continue }
            text.sample("afterlink_http_errors_total", [("code", code.rawValue)], Double(count))
        }
    }

    private static func connections(_ statistics: Statistics, _ text: inout MetricsText) {
        text.header("afterlink_http_connections", .gauge, "Open connections.")
        text.sample("afterlink_http_connections", [], Double(statistics.openConnections))
        text.header("afterlink_http_connections_accepted_total", .counter, "Connections accepted.")
        text.sample("afterlink_http_connections_accepted_total", [], Double(statistics.acceptedConnections))
        text.header("afterlink_http_connections_turned_away_total", .counter, "Connections refused with 503.")
        text.sample(
            "afterlink_http_connections_turned_away_total",
            [],
            Double(statistics.turnedAwayConnections)
        )
        text.header("afterlink_http_rejections_total", .counter, "Bytes that never became a request.")
        for (status, count) in statistics.rejections.sorted(by: { $0.key.code < $1.key.code }) {
            text.sample("afterlink_http_rejections_total", [("status", String(status.code))], Double(count))
        }
    }

    private static func tls(_ statistics: Statistics, _ text: inout MetricsText) {
        guard let expiry = statistics.certificateExpiry else { return }
        for (name, count, help) in [
            ("handshakes", statistics.handshakes, "Finished TLS handshakes."),
            ("resumed_handshakes", statistics.resumedHandshakes, "TLS handshakes that resumed a session."),
            ("failed_handshakes", statistics.failedHandshakes, "TLS handshakes that did not finish."),
        ] {
            text.header("afterlink_tls_\(name)_total", .counter, help)
            text.sample("afterlink_tls_\(name)_total", [], Double(count))
        }
        let name = "afterlink_tls_certificate_expiry_seconds"
        text.header(name, .gauge, "When the certificate expires, in seconds since 1970.")
        text.sample(name, [], Double(expiry))
    }

    /// Writes the statistics' counts of all time, for live traffic.
    private static func facts(
        _ context: LoopContext,
        _ exchange: Exchange,
        _ text: inout MetricsText
    ) async throws(APIError) {
        let report: StatisticsReport
        do throws(StoreError) {
            report = try await context.stores.statistics.statistics(StatisticsQuery(), at: exchange.now)
        } catch {
            // The process's own figures are still worth reporting.
            return
        }
        let reasons = NoMatchReason.allCases.map { ($0, Metric.noMatch($0)) }
        for metric in Metric.allCases where !reasons.contains(where: { $0.1 == metric }) {
            let name = "afterlink_\(metric.name)_total"
            text.header(name, .counter, "Counted as \(metric.name) since the database was made.")
            text.sample(name, [], Double(report.totals[metric] ?? 0))
        }
        text.header("afterlink_no_matches_total", .counter, "Checks that matched nothing, by reason.")
        for (reason, metric) in reasons {
            let count = Double(report.totals[metric] ?? 0)
            text.sample("afterlink_no_matches_total", [("reason", reason.rawValue)], count)
        }
        probabilities(report, &text)
        text.header("afterlink_live_clicks", .gauge, "Clicks that could be matched now.")
        text.sample("afterlink_live_clicks", [], Double(report.liveClicks))
        drift(report.drift, &text)
    }

    private static func drift(_ drift: [AppDrift], _ text: inout MetricsText) {
        let alarms = drift.flatMap(\.readings).filter { $0.alarm != nil }
        let name = "afterlink_match_rate_alarms"
        text.header(name, .gauge, "Groups of launches or clicks whose match rate has fallen, over all apps.")
        for side in DriftSide.allCases {
            text.sample(name, [("by", side.rawValue)], Double(alarms.count { $0.group.side == side }))
        }
    }

    private static func domainFiles(_ copies: [DomainCopy], _ text: inout MetricsText) {
        guard !copies.isEmpty else { return }
        let drift = "afterlink_domain_file_drift"
        text.header(
            drift,
            .gauge,
            "1 where a copy of a link host's domain file differs from this service's file."
        )
        for copy in copies { text.sample(drift, copy.labels, copy.hasDrifted ? 1 : 0) }
        let unreadable = "afterlink_domain_file_unreadable"
        text.header(unreadable, .gauge, "1 where a copy of a link host's domain file could not be read.")
        for copy in copies {
            let isUnreadable = if case .unknown = copy.state { true } else { false }
            text.sample(unreadable, copy.labels, isUnreadable ? 1 : 0)
        }
    }

    private static func probabilities(_ report: StatisticsReport, _ text: inout MetricsText) {
        let methods = "afterlink_matches_by_method_total"
        text.header(methods, .counter, "Matches, by how the launch was recognised.")
        for method in AttributionMethod.allCases {
            let group = report.byMethod.first { $0.name == method.rawValue }
            text.sample(methods, [("method", method.rawValue)], Double(group?.counts[.matches] ?? 0))
        }
        let expected = "afterlink_expected_conversions_total"
        text.header(
            expected,
            .counter,
            "Launches that probably came from clicks, by the sum of their probabilities."
        )
        text.sample(expected, [], report.expected.count)
        let unrecorded = "afterlink_unrecorded_checks_total"
        text.header(
            unrecorded,
            .counter,
            "Checks that were counted and not recorded, because there were too many at once."
        )
        text.sample(unrecorded, [], Double(report.unrecordedChecks))
    }

    private static func store(_ health: StoreHealth, _ text: inout MetricsText) {
        text.header("afterlink_store_accepts_writes", .gauge, "1 when the last write reached the disk.")
        text.sample("afterlink_store_accepts_writes", [], health.acceptsWrites ? 1 : 0)
        samples(health.samples, &text)
        for (name, help, histogram) in health.histograms {
            text.header(name, .histogram, help)
            text.cumulativeHistogram(name, histogram)
        }
    }

    /// Writes samples; those of one name follow each other.
    private static func samples(_ samples: [StoreHealth.Sample], _ text: inout MetricsText) {
        var lastName = ""
        for sample in samples {
            if sample.name != lastName {
                text.header(sample.name, sample.kind == .counter ? .counter : .gauge, sample.help)
                lastName = sample.name
            }
            text.sample(sample.name, sample.label.map { [($0.name, $0.value)] } ?? [], sample.value)
        }
    }
}

extension DomainCopy {
    fileprivate var labels: [(String, String)] {
        [("host", host.text), ("file", file.rawValue), ("copy", holder.rawValue)]
    }

    fileprivate var hasDrifted: Bool {
        if case .differs = state { true } else { false }
    }
}

/// Writes Prometheus' text exposition format.
struct MetricsText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var bytes: [UInt8] = []

    mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
        bytes += name.utf8
        if !labels.isEmpty {
            let list = labels.map { "\($0.0)=\"\(Self.escape($0.1))\"" }.joined(separator: ",")
            bytes += "{\(list)}".utf8
        }
        bytes += " \(Self.number(value))\n".utf8
    }

    /// Writes a histogram from counts that are not cumulative: one per bound, and one for everything above.
    mutating func histogram(
        _ name: String,
        _ labels: [(String, String)],
        bounds: [Double],
        counts: [Int64],
        sum: Double
    ) {
        var total: Int64 = 0
        for (bound, count) in zip(bounds, counts) {
            total += count
            sample(name + "_bucket", labels + [("le", Self.number(bound))], Double(total))
        }
        let all = Double(counts.reduce(0, +))
        sample(name + "_bucket", labels + [("le", "+Inf")], all)
        sample(name + "_sum", labels, sum)
        sample(name + "_count", labels, all)
    }

    mutating func cumulativeHistogram(_ name: String, _ histogram: StoreHealth.Histogram) {
        for (bound, count) in histogram.buckets {
            sample(name + "_bucket", [("le", Self.number(bound))], Double(count))
        }
        sample(name + "_bucket", [("le", "+Inf")], Double(histogram.count))
        sample(name + "_sum", [], histogram.sum)
        sample(name + "_count", [], Double(histogram.count))
    }

    private static func number(_ value: Double) -> String {
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }

    private static func escape(_ value: String) -> String {
        var escaped = ""
        for character in value {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
