internal import CMath

/// Checks or clicks, and how many of them matched.
public struct DriftCount: Equatable, Sendable {
    public var trials: Int64
    public var matches: Int64

    public init(trials: Int64 = 0, matches: Int64 = 0) {
        self.trials = trials
        self.matches = matches
    }

    /// The share of trials that matched; nil without a trial.
    public var rate: Double? { trials > 0 ? min(1, Double(matches) / Double(trials)) : nil }

    public static func + (left: DriftCount, right: DriftCount) -> DriftCount {
        DriftCount(trials: left.trials &+ right.trials, matches: left.matches &+ right.matches)
    }

    public static func - (left: DriftCount, right: DriftCount) -> DriftCount {
        DriftCount(trials: left.trials &- right.trials, matches: left.matches &- right.matches)
    }

    public static func += (left: inout DriftCount, right: DriftCount) { left = left + right }

    /// Trials and matches, with at most as many matches as trials: matches of earlier clicks may outnumber a
    /// day's clicks.
    var bounded: (trials: Double, matches: Double) {
        let trials = Double(max(0, trials))
        return (trials, min(trials, Double(max(0, matches))))
    }

    /// The logarithm of the odds with its variance; half a match and half a miss are added to keep it finite.
    ///
    /// Source: Haldane: The estimation and significance of the logarithm of a ratio of frequencies (1956).
    var logOdds: (value: Double, variance: Double) {
        let (trials, matches) = bounded
        let hits = matches + 0.5
        let misses = trials - matches + 0.5
        return (cmath_log(hits / misses), 1 / hits + 1 / misses)
    }
}

extension RandomAccessCollection where Element == DriftCount {
    var sum: DriftCount { reduce(DriftCount(), +) }
}

/// The properties by which a check is counted for the watch on match rates.
///
/// It contains only numbers, so that a check without a match costs its event loop no more than a table
/// lookup.
public struct CountedLaunch: Hashable, Sendable {
    public let platform: Platform
    public let release: OSRelease?
    public let sdk: SDKVersion?

    public init(platform: Platform = .unknown, release: OSRelease? = nil, sdk: SDKVersion? = nil) {
        self.platform = platform
        self.release = release
        self.sdk = sdk
    }

    public var group: DriftGroup { DriftGroup(launchOn: platform, release: release, sdk: sdk) }
}
