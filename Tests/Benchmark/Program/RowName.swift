/// A row of the table: what is measured together, in turns.
enum RowName: String, CaseIterable {
    case checks
    case clicks
    case signalClicks = "signal-clicks"
    case hotKey = "hot-key"
    case checkLatency = "check-latency"
    case checkLatencyLive = "check-latency-live"
    case statistics
    case start
    case memory
    case mixed
    case retention
    case newConnections = "new-connections"
    case tls
    case tlsResumption = "tls-resumption"
    case landing
    case soak
    case simulation
    case simulationLarge = "simulation-large"

    /// Those that are measured when none is named: ten million live clicks take long to store.
    static let standard = allCases.filter { $0 != .checkLatencyLive }

    var summary: String {
        switch self {
        case .checks:
            "checks that end in no_match beside nginx's static answer, 64 connections, 1 M live clicks"
        case .clicks: "clicks on disk and matches, beside a plain SQLite loop and one with a commit per row"
        case .signalClicks:
            "clicks that bring an iPhone's or an Android's signals, beside a plain SQLite loop"
        case .hotKey: "a check of a fingerprint with 20,000 live clicks against one with a single click"
        case .checkLatency: "latency of a check with 10 M stored clicks against 10 k"
        case .checkLatencyLive: "the same with 10 M live clicks (not by default)"
        case .statistics: "/admin/stats with 10 M stored clicks against 1 k"
        case .start: "start to ready with 10 M stored clicks, after a stop and after a kill"
        case .memory: "memory idle, with 10,000 idle connections, and under load, with 10 M stored clicks"
        case .mixed: "tail of checks at 70 % of the highest rate while clicks are written at half of theirs"
        case .retention: "tail of checks while retention deletes 1 M expired clicks, against none"
        case .newConnections: "checks on new connections beside nginx"
        case .tls: "checks over TLS 1.3, keep-alive, beside nginx"
        case .tlsResumption: "checks on new, resumed TLS 1.3 connections beside nginx"
        case .landing: "the page of a link and its codes"
        case .soak: "ten minutes of mixed load at a tenth of the highest rate: memory, descriptors, log"
        case .simulation: "matches of simulated worlds by known truth, 10,000 clicks a day"
        case .simulationLarge: "the same with 100,000 clicks a day"
        }
    }

    /// Those that compare two binaries.
    static let comparable: [RowName] = [.checks, .clicks, .signalClicks, .hotKey, .mixed, .start, .memory]

    var isComparable: Bool { Self.comparable.contains(self) }

    func measure(_ bench: Workbench) throws -> [Figure] {
        switch self {
        case .checks: try ChecksRow.measure(bench)
        case .clicks: try ClicksRow.measure(bench)
        case .signalClicks: try SignalClicksRow.measure(bench)
        case .hotKey: try HotKeyRow.measure(bench)
        case .checkLatency: try CheckLatencyRow.measure(bench, isAllLive: false)
        case .checkLatencyLive: try CheckLatencyRow.measure(bench, isAllLive: true)
        case .statistics: try StatisticsRow.measure(bench)
        case .start: try StartRow.measure(bench)
        case .memory: try MemoryRow.measure(bench)
        case .mixed: try MixedRow.measure(bench)
        case .retention: try RetentionRow.measure(bench)
        case .newConnections: try NewConnectionsRow.measure(bench)
        case .tls: try TLSRow.measure(bench)
        case .tlsResumption: try TLSResumptionRow.measure(bench)
        case .landing: try LandingRow.measure(bench)
        case .soak: try SoakRow.measure(bench)
        case .simulation:
            try SimulationRow.measure(
                bench,
                bench.options.worlds.isEmpty ? SimulationRow.worlds : bench.options.worlds
            )
        case .simulationLarge: try SimulationRow.measure(bench, SimulationRow.largeWorlds)
        }
    }

    /// What the row measures of one binary, to be compared with another one.
    func contests(_ bench: Workbench, _ rates: MixedRow.Rates) throws -> [Contest] {
        switch self {
        case .checks: try ChecksRow.contests(bench)
        case .clicks: try ClicksRow.contests(bench)
        case .signalClicks: try SignalClicksRow.contests(bench)
        case .hotKey: try HotKeyRow.contests(bench)
        case .start: try StartRow.contests(bench)
        case .memory: try MemoryRow.contests(bench)
        case .mixed: try MixedRow.contests(bench, rates)
        default: []
        }
    }
}
