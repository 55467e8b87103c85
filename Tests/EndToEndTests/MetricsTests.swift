import Foundation
import Support
import Testing

@Suite("Metrics", .blocking)
struct MetricsTests {
    /// Returns the metrics of a service after requests of several kinds.
    private func scrape() throws -> PrometheusText {
        let (installation, server, connection) = try Installation.serving(["--replay-grace", "0"])
        #expect(try connection.click(fingerprint(1)).status == 201)
        #expect(try connection.check(fingerprint(1)).isMatch)
        #expect(try connection.check(fingerprint(1)).isNoMatch)
        #expect(try connection.check(fingerprint(2), key: "app_wrong").status == 401)
        #expect(try connection.get("/a b").status == 400)
        let again = try server.connect()
        #expect(try again.get("/nothing").status == 404)
        // Checks without a match are written within a second.
        var text = PrometheusText("")
        _ = try Polling.until {
            let reply = try again.get("/metrics", key: installation.keys.admin)
            #expect(reply.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            text = PrometheusText(reply.text)
            return text.value("afterlink_no_matches_total", ["reason": "already_claimed"]) == 1
        }
        return text
    }

    @Test("metrics follow Prometheus' text format, and count requests, clicks, checks, commits and resources")
    func format() throws {
        let text = try scrape()
        #expect(text.violations.isEmpty, "\(text.violations)")
        #expect(text.value("afterlink_clicks_total") == 1)
        #expect(text.value("afterlink_checks_total") == 2)
        #expect(text.value("afterlink_matches_total") == 1)
        #expect(text.value("afterlink_no_matches_total", ["reason": "already_claimed"]) == 1)
        #expect(text.value("afterlink_no_matches_total", ["reason": "no_click"]) == 0)
        #expect(text.value("afterlink_http_errors_total", ["code": "INVALID_API_KEY"]) == 1)
        #expect(text.value("afterlink_http_errors_total", ["code": "BAD_REQUEST"]) == 1)
        #expect(text.value("afterlink_http_errors_total", ["code": "NOT_FOUND"]) == 1)
        let click = ["route": "POST /v1/deferred-deeplink/click", "status": "201"]
        #expect(text.value("afterlink_http_requests_total", click) == 1)
        #expect((text.value("afterlink_store_batch_size_count") ?? 0) >= 2)
        #expect((text.value("afterlink_store_commit_seconds_sum") ?? 0) > 0)
        // Writes are counted in whole numbers; a commit is measured in parts of a second.
        #expect(text.bounds("afterlink_store_batch_size").min() == 1)
        #expect((text.bounds("afterlink_store_commit_seconds").min() ?? 1) < 0.001)
        #expect((text.value("afterlink_store_wal_bytes") ?? 0) > 0)
        #expect((text.value("afterlink_store_database_bytes") ?? 0) > 0)
        #expect(text.value("afterlink_store_queue_length") != nil)
        #expect((text.value("process_open_fds") ?? 0) > 5)
        #expect((text.value("process_max_fds") ?? 0) >= (text.value("process_open_fds") ?? 0))
        #expect((text.value("process_resident_memory_bytes") ?? 0) > 1_000_000)
        #expect((text.value("process_cpu_seconds_total") ?? 0) > 0)
        #expect(text.value("afterlink_log_write_failures_total") == 0)
        #expect(text.value("afterlink_log_dropped_lines_total") == 0)
    }

    @Test("each metric is in the operator's guide, and the guide names no other metric")
    func documented() throws {
        let guide = try Repository.text("Sources/afterlink/Afterlink.docc/FaultsAndSettings.md")
        let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let names: [String] = rows.flatMap { row in
            row.split(separator: "|").first?.split(separator: "`").map(String.init) ?? []
        }
        let named = Set(names.filter { $0.hasPrefix("afterlink_") || $0.hasPrefix("process_") })
        // These metrics exist only with TLS, and after a failure of the store.
        let withTLS = ["handshakes_total", "resumed_handshakes_total", "failed_handshakes_total"]
        let rare = Set((withTLS + ["certificate_expiry_seconds"]).map { "afterlink_tls_\($0)" })
            .union(["afterlink_store_refusals_total"])
        let text = try scrape()
        #expect(Set(text.types.keys).union(rare) == named)
    }

    @Test("the reader of this test finds violations of the format")
    func strictness() {
        let good = "# HELP a_total Words.\n# TYPE a_total counter\na_total{b=\"c\\\"\\\\\\n\"} 1\n"
        #expect(PrometheusText(good).violations.isEmpty)
        for broken in [
            "a 1\n", good + "\n", String(good.dropLast()), good + "a_total{b=\"d} 1\n",
            good + "a_total 1 x\n",
            good + "a_total -1\n", good + "a_total{b=\"c\\\"\\\\\\n\"} 1\n", good + "a_total{1b=\"c\"} 1\n",
            "# TYPE a counter\n# HELP a x\na 1\n", "# HELP a x\n# TYPE a new\na 1\n", good + "a-b 1\n",
            "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
            "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_sum 1\nh_count 2\n",
        ] { #expect(!PrometheusText(broken).violations.isEmpty, "\(broken)") }
    }
}

extension PrometheusText {
    /// Returns the upper bounds of a histogram's buckets.
    fileprivate func bounds(_ name: String) -> [Double] {
        samples.filter { $0.name == name + "_bucket" }.compactMap { $0.labels["le"].flatMap { Double($0) } }
    }
}
