internal import Attribution
internal import DomainFiles
internal import HTTPServer

/// `GET /metrics`: reports metrics in Prometheus' text exposition format, version 0.0.4.
enum ShowMetrics {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        var text = MetricsText()
        let service = context.service
        let version = [("version", service.settings.version)]
        text.add("afterlink_build_info", .gauge, "Always 1; the label has the version.", [(version, 1)])
        let uptime = Double(service.uptime) / 1_000_000_000
        text.add("afterlink_uptime_seconds", .gauge, "Seconds since the start.", uptime)
        requests(service.metrics.counts(), &text)
        let errors = service.metrics.errorCounts()
        text.add(
            "afterlink_http_errors_total",
            .counter,
            "Error responses, by their code.",
            APIError.Code.allCases.compactMap { code in
                errors[code].map { ([("code", code.rawValue)], Double($0)) }
            }
        )
        let statistics = service.connections()
        connections(statistics, &text)
        tls(statistics, &text)
        await facts(context, exchange, &text)
        store(service.storeHealth(), &text)
        domainFiles(service.settings.domainWatch?.all ?? [], &text)
        let dropped = Double(service.log.droppedLineCount)
        text.add("afterlink_log_dropped_lines_total", .counter, "Log lines that were dropped.", dropped)
        for sample in service.process() { text.add(sample.name, sample.kind, sample.help, sample.value) }
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
        text.add(
            "afterlink_http_requests_total",
            .counter,
            "Requests by route and status.",
            routes.flatMap { route, counts in
                counts.statuses.sorted { $0.key < $1.key }.map { status, count in
                    ([("route", route), ("status", String(status))], Double(count))
                }
            }
        )
        let durations = "afterlink_http_request_duration_seconds"
        text.header(durations, .histogram, "From a request's first byte to its response.")
        let bounds = LoopMetrics.bounds.map { Double($0) / 1_000_000 }
        for (route, counts) in routes where counts.durations.contains(where: { $0 > 0 }) {
            let sum = Double(counts.totalMicroseconds) / 1_000_000
            text.histogram(durations, [("route", route)], bounds: bounds, counts: counts.durations, sum: sum)
        }
    }

    private static func connections(_ statistics: Statistics, _ text: inout MetricsText) {
        let prefix = "afterlink_http_connections"
        text.add(prefix, .gauge, "Open connections.", Double(statistics.openConnections))
        let accepted = Double(statistics.acceptedConnections)
        text.add("\(prefix)_accepted_total", .counter, "Connections accepted.", accepted)
        let refused = Double(statistics.turnedAwayConnections)
        text.add("\(prefix)_turned_away_total", .counter, "Connections refused with 503.", refused)
        text.add(
            "afterlink_http_rejections_total",
            .counter,
            "Bytes that never became a request.",
            statistics.rejections.sorted { $0.key.code < $1.key.code }.map { status, count in
                ([("status", String(status.code))], Double(count))
            }
        )
    }

    private static func tls(_ statistics: Statistics, _ text: inout MetricsText) {
        guard let expiry = statistics.certificateExpiry else { return }
        for (name, count, help) in [
            ("handshakes", statistics.handshakes, "Finished TLS handshakes."),
            ("resumed_handshakes", statistics.resumedHandshakes, "TLS handshakes that resumed a session."),
            ("failed_handshakes", statistics.failedHandshakes, "TLS handshakes that did not finish."),
        ] {
            text.add("afterlink_tls_\(name)_total", .counter, help, Double(count))
        }
        let help = "When the certificate expires, in seconds since 1970."
        text.add("afterlink_tls_certificate_expiry_seconds", .gauge, help, Double(expiry))
    }

    /// Writes the statistics' counts of all time, for live traffic.
    private static func facts(_ context: LoopContext, _ exchange: Exchange, _ text: inout MetricsText) async {
        let report: StatisticsReport
        do throws(StoreError) {
            report = try await context.stores.statistics.statistics(StatisticsQuery(), at: exchange.now)
        } catch {
            // The process's own figures are still worth reporting.
            return
        }
        let reasons = NoMatchReason.allCases.map { ($0, Metric.noMatch($0)) }
        for metric in Metric.allCases where !reasons.contains(where: { $0.1 == metric }) {
            let help = "Counted as \(metric.name) since the database was made."
            text.add("afterlink_\(metric.name)_total", .counter, help, Double(report.totals[metric] ?? 0))
        }
        text.add(
            "afterlink_no_matches_total",
            .counter,
            "Checks that matched nothing, by reason.",
            reasons.map { ([("reason", $0.rawValue)], Double(report.totals[$1] ?? 0)) }
        )
        text.add(
            "afterlink_matches_by_method_total",
            .counter,
            "Matches, by how the launch was recognised.",
            AttributionMethod.allCases.map { method in
                let group = report.byMethod.first { $0.name == method.rawValue }
                return ([("method", method.rawValue)], Double(group?.counts[.matches] ?? 0))
            }
        )
        text.add(
            "afterlink_expected_conversions_total",
            .counter,
            "Launches that probably came from clicks, by the sum of their probabilities.",
            report.expected.count
        )
        text.add(
            "afterlink_unrecorded_checks_total",
            .counter,
            "Checks that were counted and not recorded, because there were too many at once.",
            Double(report.unrecordedChecks)
        )
        let live = Double(report.liveClicks)
        text.add("afterlink_live_clicks", .gauge, "Clicks that could be matched now.", live)
        let alarms = report.drift.flatMap(\.readings).filter { $0.alarm != nil }
        text.add(
            "afterlink_match_rate_alarms",
            .gauge,
            "Groups of launches or clicks whose match rate has fallen, over all apps.",
            DriftSide.allCases.map { side in
                ([("by", side.rawValue)], Double(alarms.count { $0.group.side == side }))
            }
        )
    }

    private static func domainFiles(_ copies: [DomainCopy], _ text: inout MetricsText) {
        guard !copies.isEmpty else { return }
        func samples(_ holds: (DomainCopy.State) -> Bool) -> [MetricsText.LabelledValue] {
            copies.map { copy in
                let labels = [
                    ("host", copy.host.text), ("file", copy.file.rawValue), ("copy", copy.holder.rawValue),
                ]
                return (labels, holds(copy.state) ? 1 : 0)
            }
        }
        text.add(
            "afterlink_domain_file_drift",
            .gauge,
            "1 where a copy of a link host's domain file differs from this service's file.",
            samples { if case .differs = $0 { true } else { false } }
        )
        text.add(
            "afterlink_domain_file_unreadable",
            .gauge,
            "1 where a copy of a link host's domain file could not be read.",
            samples { if case .unknown = $0 { true } else { false } }
        )
    }

    private static func store(_ health: StoreHealth, _ text: inout MetricsText) {
        let accepts = health.acceptsWrites ? 1.0 : 0
        text.add("afterlink_store_accepts_writes", .gauge, "1 when the last write reached the disk.", accepts)
        for (name, value, help) in [
            ("queue_length", Int64(health.queueLength), "Writes that wait or are under way."),
            ("database_bytes", health.databaseBytes, "Size of the database file."),
            ("wal_bytes", health.writeAheadLogBytes, "Size of the write-ahead log."),
            (
                "retention_lag_seconds", health.retentionLagSeconds,
                "How long ago the oldest click expired that should have been deleted."
            ),
        ] {
            text.add("afterlink_store_\(name)", .gauge, help, Double(value))
        }
        if !health.refusals.isEmpty {
            text.add(
                "afterlink_store_refusals_total",
                .counter,
                "Requests that the store could not do, by reason.",
                health.refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, count in
                    ([("reason", code.rawValue)], Double(count))
                }
            )
        }
        for (name, help, histogram) in [
            ("batch_size", "Writes in one transaction.", health.batchSizes),
            ("commit_seconds", "How long a commit took, the sync to disk included.", health.commitSeconds),
        ] {
            let name = "afterlink_store_\(name)"
            text.header(name, .histogram, help)
            text.histogram(name, bounds: histogram.bounds, counts: histogram.counts, sum: histogram.sum)
        }
    }
}

/// A number about the process itself, by its Prometheus name.
public struct ProcessSample: Sendable {
    let name: String
    let help: String
    let kind: MetricsText.Kind
    let value: Double

    /// A value that may rise and fall.
    public static func gauge(_ name: String, _ value: Double, help: String) -> ProcessSample {
        ProcessSample(name: name, help: help, kind: .gauge, value: value)
    }

    /// A count since the start.
    public static func counter(_ name: String, _ value: Double, help: String) -> ProcessSample {
        ProcessSample(name: name, help: help, kind: .counter, value: value)
    }
}

/// Writes Prometheus' text exposition format.
struct MetricsText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var bytes: [UInt8] = []

    /// A value and the names and values of its labels.
    typealias LabelledValue = ([(String, String)], Double)

    /// Writes a metric of one value without labels.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        add(name, kind, help, [([], value)])
    }

    /// Writes a metric with a value for each set of labels.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ values: [LabelledValue]) {
        header(name, kind, help)
        for (labels, value) in values { sample(name, labels, value) }
    }

    mutating func header(_ name: String, _ kind: Kind, _ help: String) {
        bytes += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n".utf8
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
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
        _ labels: [(String, String)] = [],
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
