/// How frequent the systems are that clicks come from.
struct ReleaseShares: Sendable {
    private let clicks: [(release: OSRelease, count: Double)]

    init(_ counters: ModelCounters) {
        clicks = counters.all(.releases).sorted { $0.key < $1.key }.compactMap { code, count in
            OSRelease(code: code).map { ($0, count) }
        }
    }

    /// The share of the platform's clicks whose system agrees; never quite 0 nor 1.
    func share(agreeingWith release: OSRelease) -> Double {
        var agreeing = 0.0
        var all = 0.0
        for entry in clicks where entry.release.platform == release.platform {
            all += entry.count
            if entry.release.agrees(with: release) { agreeing += entry.count }
        }
        return min(max((agreeing + 2) / (all + 5), 0.005), 0.97)
    }
}

/// What it is worth that a click's system agrees with that of a launch.
///
/// P(both told releases | same device) / P(… | stranger): devices agree with themselves in 97 of 100 cases.
struct ReleaseLikelihood {
    private let launch: OSRelease?
    private let agreeing: Double
    private let differing: Double

    init(_ launch: OSRelease?, _ shares: ReleaseShares) {
        self.launch = launch
        let share = launch.map(shares.share(agreeingWith:)) ?? 0.5
        agreeing = 0.97 / share
        differing = 0.03 / (1 - share)
    }

    /// 1 when either is unknown.
    func ratio(_ click: OSRelease?, form: FingerprintForm?) -> Double {
        // A form that hashes the system has compared it already, and a ready-made fingerprint may have.
        guard let form, !form.components.contains(.osVersion) else { return 1 }
        guard let launch, let click, launch.platform == click.platform else { return 1 }
        return launch.agrees(with: click) ? agreeing : differing
    }
}
