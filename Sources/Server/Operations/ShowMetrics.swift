internal import Attribution
internal import DomainFiles
internal import HTTPServer

/// `GET /metrics`: reports metrics in Prometheus' text exposition format, version 0.0.4.
enum ShowMetrics {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let service = exchange.service
        let version: MetricFamily.LabelledValue = ([("version", service.settings.version)], 1)
        let uptime = Double(service.uptime) / 1_000_000_000
        let dropped = Double(service.log.droppedLineCount)
        var metrics: [MetricFamily] = [
            .gauge("afterlink_build_info", "Always 1; the label is the program's version.", [version]),
            .gauge("afterlink_uptime_seconds", "Seconds since the start.", uptime),
            .counter("afterlink_log_dropped_lines_total", "Log lines that were dropped.", dropped),
        ]
        // The figures of the process and of the database concern all apps.
        let seesAll = exchange.onlyApp == nil
        if seesAll { metrics += requests(service.metrics) + connections(service.connections()) }
        metrics += await counts(exchange)
        if seesAll { metrics += store(service.storeHealth()) }
        metrics += domainFiles(exchange.domainCopies)
        if seesAll { metrics += service.process() }
        var text: [UInt8] = []
        for metric in metrics { metric.write(to: &text) }
        let type = ContentType("text/plain; version=0.0.4; charset=utf-8")
        return Response(.ok, fields: [.noStore], contentType: type, body: text)
    }

    private static func requests(_ metrics: Metrics) -> [MetricFamily] {
        let (routes, errors) = (metrics.counts(), metrics.errorCounts())
        var (statuses, durations) = ([MetricFamily.LabelledValue](), [MetricFamily.LabelledCounts]())
        let bounds = LoopMetrics.bounds.map { Double($0) / 1_000_000 }
        for (route, counts) in routes {
            for (status, count) in counts.statuses.sorted(by: { $0.key < $1.key }) {
                statuses.append(([("route", route), ("status", String(status))], Double(count)))
            }
            guard counts.durations.contains(where: { $0 > 0 }) else { continue }
            let sum = Double(counts.totalMicroseconds) / 1_000_000
            durations.append(([("route", route)], bounds, counts.durations, sum))
        }
        let codes = APIError.Code.allCases.compactMap { code in
            errors[code].map { ([("code", code.rawValue)], Double($0)) }
        }
        let duration = "afterlink_http_request_duration_seconds"
        return [
            .counter("afterlink_http_requests_total", "Requests by route and status.", statuses),
            .histogram(duration, "From a request's first byte to its response.", durations),
            .counter("afterlink_http_errors_total", "Error responses, by their code.", codes),
        ]
    }

    private static func connections(_ statistics: Statistics) -> [MetricFamily] {
        let prefix = "afterlink_http_connections"
        let (accepted, refused) = (statistics.acceptedConnections, statistics.turnedAwayConnections)
        let rejections = statistics.rejections.sorted { $0.key.code < $1.key.code }.map { status, count in
            ([("status", String(status.code))], Double(count))
        }
        var metrics: [MetricFamily] = [
            .gauge(prefix, "Open connections.", Double(statistics.openConnections)),
            .counter("\(prefix)_accepted_total", "Connections accepted.", Double(accepted)),
            .counter("\(prefix)_turned_away_total", "Connections refused, mostly with 503.", Double(refused)),
            .counter("afterlink_http_rejections_total", "Bytes that never became a request.", rejections),
        ]
        guard let expiry = statistics.certificateExpiry else { return metrics }
        for (name, count, help) in [
            ("handshakes", statistics.handshakes, "Finished TLS handshakes."),
            ("resumed_handshakes", statistics.resumedHandshakes, "TLS handshakes that resumed a session."),
            ("failed_handshakes", statistics.failedHandshakes, "TLS handshakes that did not finish."),
        ] { metrics.append(.counter("afterlink_tls_\(name)_total", help, Double(count))) }
        let help = "When the certificate expires, in seconds since 1970."
        return metrics + [.gauge("afterlink_tls_certificate_expiry_seconds", help, Double(expiry))]
    }

    /// Returns the statistics' counts of live traffic since the database was created.
    ///
    /// Returns an empty list if they cannot be read, because the process's figures are still worth reporting.
    private static func counts(_ exchange: Exchange) async -> [MetricFamily] {
        let report: StatisticsReport
        do throws(StoreError) {
            let query = StatisticsQuery(app: exchange.onlyApp)
            report = try await exchange.stores.statistics.statistics(query, at: exchange.now)
        } catch { return [] }
        let reasons = NoMatchReason.allCases.map { ($0, Metric.noMatch($0)) }
        var metrics: [MetricFamily] = []
        for metric in Metric.allCases where !reasons.contains(where: { $0.1 == metric }) {
            let help = "Number of \(metric.name) since the database was created."
            let count = Double(report.totals[metric] ?? 0)
            metrics.append(.counter("afterlink_\(metric.name)_total", help, count))
        }
        let methods = AttributionMethod.allCases.map { method in
            let group = report.byMethod.first { $0.name == method.rawValue }
            return ([("method", method.rawValue)], Double(group?.counts[.matches] ?? 0))
        }
        let findings = PlayFinding.allCases.map { finding in
            let group = report.byPlayFinding.first { $0.name == finding.rawValue }
            return ([("finding", finding.rawValue)], Double(group?.counts[.matches] ?? 0))
        }
        let alarms = report.drift.flatMap(\.readings).filter { $0.alarm != nil }
        let sides = DriftSide.allCases.map { side in
            ([("by", side.rawValue)], Double(alarms.count { $0.group.side == side }))
        }
        let noMatches = reasons.map { ([("reason", $0.rawValue)], Double(report.totals[$1] ?? 0)) }
        let expected = "Launches that probably came from clicks, by the sum of their probabilities."
        let unrecorded = "Checks that were counted and not recorded, because there were too many at once."
        let fallen = "Groups of launches or clicks whose match rate has fallen, over all apps."
        let recognised = "Matches, by how the launch was recognised."
        let doubted = "Matches that are not guaranteed because of Google Play's report, by finding."
        // A key of one app does not see this count, because it is one count for all apps.
        if exchange.onlyApp == nil {
            let count = Double(report.unrecordedChecks)
            metrics.append(.counter("afterlink_unrecorded_checks_total", unrecorded, count))
        }
        return metrics + [
            .counter("afterlink_no_matches_total", "Checks that matched nothing, by reason.", noMatches),
            .counter("afterlink_matches_by_method_total", recognised, methods),
            .counter("afterlink_play_findings_total", doubted, findings),
            .counter("afterlink_expected_conversions_total", expected, report.expected.count),
            .gauge("afterlink_live_clicks", "Clicks that could be matched now.", Double(report.liveClicks)),
            .gauge("afterlink_match_rate_alarms", fallen, sides),
        ]
    }

    private static func domainFiles(_ copies: [DomainCopy]) -> [MetricFamily] {
        guard !copies.isEmpty else { return [] }
        var (drift, unreadable) = ([MetricFamily.LabelledValue](), [MetricFamily.LabelledValue]())
        for copy in copies {
            let (host, file, holder) = (copy.host.text, copy.file.rawValue, copy.holder.rawValue)
            let labels = [("host", host), ("file", file), ("copy", holder)]
            let (differs, isUnknown): (Double, Double) =
                switch copy.state {
                case .current: (0, 0)
                case .differs: (1, 0)
                case .unknown: (0, 1)
                }
            drift.append((labels, differs))
            unreadable.append((labels, isUnknown))
        }
        let differs = "1 where a copy of a link host's domain file differs from this service's file."
        let isUnknown = "1 where a copy of a link host's domain file could not be read."
        return [
            .gauge("afterlink_domain_file_drift", differs, drift),
            .gauge("afterlink_domain_file_unreadable", isUnknown, unreadable),
        ]
    }

    private static func store(_ health: StoreHealth) -> [MetricFamily] {
        var metrics: [MetricFamily] = []
        let lag = "Seconds since the oldest stored click became due for deletion."
        for (name, value, help) in [
            (
                "accepts_writes", health.acceptsWrites ? 1 : 0,
                "1 if the last write reached the disk and none waits for two seconds."
            ),
            ("queue_length", Int64(health.queueLength), "Writes that wait or are under way."),
            ("database_bytes", health.databaseBytes, "Size of the database."),
            ("wal_bytes", health.writeAheadLogBytes, "Size of the write-ahead log."),
            ("retention_lag_seconds", health.retentionLagSeconds, lag),
        ] { metrics.append(.gauge("afterlink_store_\(name)", help, Double(value))) }
        if !health.refusals.isEmpty {
            let refusals = health.refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, count in
                ([("reason", code.rawValue)], Double(count))
            }
            let help = "Requests that the store refused or failed, by reason."
            metrics.append(.counter("afterlink_store_refusals_total", help, refusals))
        }
        let attempts = DeliveryState.allCases.map { state in
            let result = state == .pending ? "retry" : state.word
            return ([("result", result)], Double(health.postbackAttempts[state] ?? 0))
                as MetricFamily.LabelledValue
        }
        let endpoints = PostbackEndpoint.State.allCases.map { state in
            ([("state", state.rawValue)], Double(health.postbackEndpoints[state] ?? 0))
                as MetricFamily.LabelledValue
        }
        let (tries, states, pending) = (
            "Attempts to deliver a postback, by result.",
            "Postback endpoints that no operator has disabled, by state.",
            "Pending postbacks of the endpoints that no operator has disabled."
        )
        let age = "Seconds since the event of the postback that waits longest."
        let seconds = health.postbackSeconds
        metrics += [
            .counter("afterlink_postback_attempts_total", tries, attempts),
            .gauge("afterlink_postback_endpoints", states, endpoints),
            .gauge("afterlink_postback_queue_length", pending, Double(health.postbackQueue)),
            .gauge("afterlink_postback_oldest_seconds", age, Double(health.postbackAgeSeconds)),
            .histogram(
                "afterlink_postback_delivery_seconds",
                "Seconds from an event to its delivery.",
                [([], seconds.bounds, seconds.counts, seconds.sum)]
            ),
        ]
        for (name, help, values) in [
            ("batch_size", "Writes in one transaction.", health.batchSizes),
            ("commit_seconds", "How long a commit took, the sync to disk included.", health.commitSeconds),
        ] {
            let counts = [([], values.bounds, values.counts, values.sum)] as [MetricFamily.LabelledCounts]
            metrics.append(.histogram("afterlink_store_\(name)", help, counts))
        }
        return metrics
    }
}

extension Exchange {
    /// The copies of the domain files of all link hosts that the request may see; empty if they are not monitored.
    var domainCopies: [DomainCopy] {
        let copies = service.settings.domainWatch?.all ?? []
        guard onlyApp != nil else { return copies }
        return copies.filter { !directory.apps(listing: $0.host).isEmpty }
    }
}

/// A metric of one name with its values, which ``write(to:)`` formats for Prometheus.
public struct MetricFamily: Sendable {
    /// A value and the names and values of its labels.
    typealias LabelledValue = ([(String, String)], Double)
    /// The labels, upper bounds, counts and sum of a histogram; one count for each bound, and one for higher values.
    typealias LabelledCounts = ([(String, String)], [Double], [Int64], Double)

    private let name: String
    private let kind: String
    let help: String
    /// The suffix of the name, the labels and the value of each sample; only histograms have suffixes.
    private(set) var samples: [(String, [(String, String)], Double)] = []

    /// What the values count.
    enum Unit { case bytes, seconds, number }

    /// The unit: by Prometheus' naming rules, it is the last word of the name, or the word before `_total`.
    var unit: Unit {
        let words = name.split(separator: "_")
        return switch words.last == "total" ? words.dropLast().last : words.last {
        case "bytes": .bytes
        case "seconds": .seconds
        default: .number
        }
    }

    /// Creates a metric whose value may rise and fall.
    public static func gauge(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
        gauge(name, help, [([], value)])
    }

    /// Creates a metric whose value only rises.
    public static func counter(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
        counter(name, help, [([], value)])
    }

    static func gauge(_ name: String, _ help: String, _ values: [LabelledValue]) -> MetricFamily {
        MetricFamily(name: name, kind: "gauge", help: help, samples: values.map { ("", $0.0, $0.1) })
    }

    static func counter(_ name: String, _ help: String, _ values: [LabelledValue]) -> MetricFamily {
        MetricFamily(name: name, kind: "counter", help: help, samples: values.map { ("", $0.0, $0.1) })
    }

    static func histogram(_ name: String, _ help: String, _ values: [LabelledCounts]) -> MetricFamily {
        var metric = MetricFamily(name: name, kind: "histogram", help: help)
        for (labels, bounds, counts, sum) in values {
            var total: Int64 = 0
            for (bound, count) in zip(bounds, counts) {
                total += count
                metric.samples.append(("_bucket", labels + [("le", number(bound))], Double(total)))
            }
            let all = Double(counts.reduce(0, +))
            metric.samples.append(("_bucket", labels + [("le", "+Inf")], all))
            metric.samples += [("_sum", labels, sum), ("_count", labels, all)]
        }
        return metric
    }

    func write(to text: inout [UInt8]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n".utf8
        for (suffix, labels, value) in samples {
            let list = labels.map { "\($0.0)=\"\(Self.escape($0.1))\"" }.joined(separator: ",")
            text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))\n".utf8
        }
    }

    private static func number(_ value: Double) -> String {
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }

    private static func escape(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
