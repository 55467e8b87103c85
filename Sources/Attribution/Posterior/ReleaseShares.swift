/// How frequent the systems are that clicks come from.
struct ReleaseShares: Sendable {
    private struct Major: Hashable {
        let platform: Platform
        let number: Int

        init(_ release: OSRelease) {
            platform = release.platform
            number = release.major
        }
    }

    private var clicks: [Platform: Double] = [:]
    /// None agrees with one of another major number, however many are told.
    private var byMajor: [Major: [(release: OSRelease, count: Double)]] = [:]

    init(_ counters: ModelCounters) {
        for (code, count) in counters.all(.releases).sorted(by: { $0.key < $1.key }) {
            guard let release = OSRelease(code: code) else { continue }
            clicks[release.platform, default: 0] += count
            byMajor[Major(release), default: []].append((release, count))
        }
    }

    /// The share of the platform's clicks whose system agrees; never quite 0 nor 1.
    func share(agreeingWith release: OSRelease) -> Double {
        var agreeing = 0.0
        for entry in byMajor[Major(release)] ?? [] where entry.release.agrees(with: release) {
            agreeing += entry.count
        }
        return min(max((agreeing + 2) / (clicks[release.platform, default: 0] + 5), 0.005), 0.97)
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
