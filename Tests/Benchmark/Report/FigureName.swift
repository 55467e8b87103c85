/// A figure that can be measured.
struct FigureName: Hashable {
    /// Its name in the JSON.
    let name: String
    /// What the table calls it.
    let title: String
    /// What it must reach; nil where every value will do.
    let bar: Bar?

    init(_ name: String, _ title: String, _ bar: Bar? = nil) {
        self.name = name
        self.title = title
        self.bar = bar
    }

    /// Whether more is better: of all others, less is.
    var isRate: Bool { name.hasSuffix("_per_second") }
}

extension FigureName {
    static let checksOfNginx =
        FigureName("checks_of_nginx", "checks (no_match), of nginx's static answer", .atLeast(0.80))
    static let checksOfBufferedNginx =
        FigureName("checks_of_nginx_with_buffered_log", "the same, of nginx with a buffered log")
    static let checksPerSecond = FigureName("checks_per_second", "checks a second")
    static let nginxPerSecond = FigureName("nginx_per_second", "nginx's answers a second")
    static let checkMicrosecondsOfCore =
        FigureName("check_core_microseconds", "processor time of a check, µs")
    static let nginxMicrosecondsOfCore =
        FigureName("nginx_core_microseconds", "processor time of nginx's answer, µs")
    static let clicksOfPlainLoop =
        FigureName("clicks_of_plain_loop", "clicks on disk, of the plain loop", .atLeast(0.50))
    static let clicksOfCommitPerRow =
        FigureName("clicks_of_commit_per_row", "clicks on disk, of a commit per row", .atLeast(4))
    static let clicksPerSecond = FigureName("clicks_per_second", "clicks on disk a second")
    static let plainLoopPerSecond = FigureName("plain_loop_per_second", "plain loop's rows a second")
    static let commitPerRowPerSecond =
        FigureName("commit_per_row_per_second", "rows a second with a commit each")
    static let meanBatch = FigureName("mean_batch", "the server's mean batch, clicks")
    static let syncMicroseconds = FigureName("sync_microseconds", "one sync to disk, µs")
    static let matchesOfClicks = FigureName("matches_of_clicks", "matches, of clicks", .atLeast(0.6))
    static let matchesPerSecond = FigureName("matches_per_second", "matches a second")
    static let hotKeyGrowth = FigureName(
        "hot_key_growth",
        "check of a fingerprint with 20,000 live clicks, of one with one",
        .atMost(2)
    )
    static let hotKeyGrowthWithoutAddresses =
        FigureName("hot_key_growth_without_addresses", "the same where no address tells anything", .atMost(2))
    static let singleKeyMicroseconds =
        FigureName("single_key_microseconds", "check of a fingerprint with one live click, µs")
    static let hotKeyMicroseconds = FigureName("hot_key_microseconds", "such a check, µs")
    static let checkLatencyGrowth =
        FigureName("check_latency_growth", "latency of a check, 10 M stored of 10 k", .atMost(1.3))
    static let checkLatencyMicroseconds =
        FigureName("check_latency_microseconds", "latency of a check with 10 M stored, µs")
    static let checkLatencyFewMicroseconds =
        FigureName("check_latency_few_clicks_microseconds", "latency of a check with 10 k stored, µs")
    static let checkLatencyLoadedGrowth =
        FigureName("check_latency_growth_64_connections", "the same with 64 connections at once")
    static let checkLatencyLiveGrowth =
        FigureName("check_latency_growth_all_live", "latency of a check, 10 M live of 10 k stored")
    static let statisticsGrowth =
        FigureName("statistics_growth", "/admin/stats, 10 M stored of 1 k", .atMost(1.5))
    static let statisticsMilliseconds =
        FigureName("statistics_milliseconds", "/admin/stats with 10 M stored, ms", .below(5))
    static let iPhonePageTailMicroseconds =
        FigureName("landing_page_p99_microseconds", "p99 of a link's page for an iPhone, µs")
    static let iPhonePageMicroseconds = FigureName(
        "landing_page_iphone_core_microseconds",
        "a link's page for an iPhone, µs of a core",
        .below(1000)
    )
    static let androidPageMicroseconds =
        FigureName("landing_page_android_core_microseconds", "the same for an Android", .below(1000))
    static let computerPageMicroseconds =
        FigureName("landing_page_computer_core_microseconds", "the same for a computer", .below(1000))
    static let handOverCodeMicroseconds =
        FigureName("hand_over_code_core_microseconds", "the code on a computer's page, µs of a core")
    static let vectorCodeMicroseconds = FigureName("qr_svg_core_microseconds", "qr.svg, µs of a core")
    static let rasterCodeMicroseconds = FigureName("qr_png_core_microseconds", "qr.png, µs of a core")
    static let cleanStartMilliseconds =
        FigureName("clean_start_milliseconds", "start to ready after a stop, ms", .below(150))
    static let startAfterKillMilliseconds =
        FigureName("start_after_kill_milliseconds", "start to ready after a kill, ms", .below(2000))
    static let idleMegabytes = FigureName("idle_megabytes", "memory idle, MB", .below(30))
    static let idleConnectionsMegabytes =
        FigureName("idle_connections_megabytes", "memory with 10,000 idle connections, MB", .below(120))
    static let bytesPerConnection = FigureName("bytes_per_idle_connection", "bytes of an idle connection")
    static let loadedMegabytes = FigureName("loaded_megabytes", "memory under load, MB", .below(300))
    static let mixedTailMilliseconds = FigureName(
        "mixed_p99_milliseconds",
        "p99 of checks at 70 % of the highest rate beside clicks, ms",
        .below(25)
    )
    static let mixedTailBesideMilliseconds = FigureName(
        "mixed_beside_p99_milliseconds",
        "p99 at 70 % of what is left beside the clicks, ms",
        .below(25)
    )
    static let mixedChecksPerSecond =
        FigureName("mixed_checks_per_second", "checks a second, answered, at 70 %")
    static let mixedHighestPerSecond =
        FigureName(
            "mixed_highest_checks_per_second",
            "checks a second beside clicks, as many as there can be"
        )
    static let mixedClicksPerSecond = FigureName("mixed_clicks_per_second", "clicks a second beside them")
    static let retentionTailGrowth =
        FigureName("retention_p99_growth", "p99 of checks while retention deletes, of none", .atMost(1.5))
    static let retentionTailMilliseconds =
        FigureName("retention_p99_milliseconds", "p99 of checks while retention deletes, ms")
    static let quietTailMilliseconds =
        FigureName("no_retention_p99_milliseconds", "p99 of checks without, ms")
    static let deletedPerSecond = FigureName("deleted_per_second", "clicks deleted a second")
    static let newConnectionsOfNginx =
        FigureName("new_connections_of_nginx", "checks on new connections, of nginx", .atLeast(0.8))
    static let newConnectionsPerSecond =
        FigureName("new_connections_per_second", "checks on new connections a second")
    static let tlsOfNginx = FigureName("tls_of_nginx", "checks over TLS 1.3, of nginx", .atLeast(0.8))
    static let tlsPerSecond = FigureName("tls_per_second", "checks over TLS 1.3 a second")
    static let tlsResumptionOfNginx =
        FigureName("tls_resumption_of_nginx", "checks on resumed TLS connections, of nginx", .atLeast(0.8))
    static let tlsResumptionPerSecond =
        FigureName("tls_resumption_per_second", "checks on resumed TLS connections a second")
    static let soakMemoryGrowthPercent =
        FigureName("soak_memory_growth_percent", "growth of memory under mixed load, %", .atMost(5))
    static let soakDescriptorGrowthPercent =
        FigureName("soak_descriptor_growth_percent", "growth of descriptors under mixed load, %", .atMost(5))
    static let soakLogMegabytes =
        FigureName("soak_wal_megabytes", "largest write-ahead log under mixed load, MB", .below(128))
    static let soakRequests = FigureName("soak_requests", "requests of the mixed load")
    static let soakFailures = FigureName("soak_failures", "of them without a good answer")

    static func clicksOfPlainLoop(from device: SampleDevice) -> FigureName {
        FigureName(
            "\(device.rawValue.lowercased())_clicks_of_plain_loop",
            "clicks with an \(device.rawValue)'s signals on disk, of the plain loop"
        )
    }

    static func clicksPerSecond(from device: SampleDevice) -> FigureName {
        FigureName(
            "\(device.rawValue.lowercased())_clicks_per_second",
            "clicks with an \(device.rawValue)'s signals on disk a second"
        )
    }
}
