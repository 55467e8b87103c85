/// The part of an operating system's release that serves as evidence: major and minor number.
public struct OSRelease: Hashable, Sendable {
    public let platform: Platform
    public let major: Int
    /// Nil if it is unknown or no evidence, as on Android.
    public let minor: Int?
    /// Whether the true minor number may be larger, because ``minor`` is the minor number of the kernel
    /// (Darwin), which stops at 6.
    public let isAtLeast: Bool

    public init(platform: Platform, major: Int, minor: Int? = nil, isAtLeast: Bool = false) {
        (self.platform, self.major, self.minor, self.isAtLeast) = (platform, major, minor, isAtLeast)
    }

    public init(_ version: OSVersion, on platform: Platform) {
        // Only some agents of Android contain its minor number, so the number is no evidence.
        self.init(platform: platform, major: version.major, minor: platform == .ios ? version.minor : nil)
    }

    /// Reads the default agent of an app's own requests, as `App/1 CFNetwork/1568.1 Darwin/24.1.0` or
    /// `Dalvik/2.1.0 (Linux; U; Android 14; SM-S911B Build/…)`; nil if it names no known system.
    ///
    /// - Parameters:
    ///   - launchAgent: the whole `User-Agent`.
    ///   - releases: the table that maps kernels to systems.
    public init?(launchAgent: String, releases: IOSReleases = DeviceData.embedded.releases) {
        let agent = AgentText(launchAgent.utf8.span)
        if let darwin = agent.darwin {
            guard let major = releases.major(ofDarwin: darwin.major) else { return nil }
            let isAtLeast = darwin.minor >= IOSReleases.lastDarwinMinor
            self.init(platform: .ios, major: major, minor: darwin.minor, isAtLeast: isAtLeast)
            return
        }
        let device = UserAgent(launchAgent)
        guard let version = device.osVersion else { return nil }
        self.init(version, on: device.platform)
    }

    /// Returns whether both may be the same release.
    public func agrees(with other: OSRelease) -> Bool {
        guard platform == other.platform, major == other.major else { return false }
        guard let minor, let otherMinor = other.minor else { return true }
        if isAtLeast && otherMinor >= minor || other.isAtLeast && minor >= otherMinor { return true }
        return minor == otherMinor
    }

    /// The release as a counter's key; it does not contain ``isAtLeast``.
    public var code: UInt64 {
        UInt64(platform.code) << 48 | UInt64(UInt16(clamping: major)) << 24
            | UInt64(minor.map { UInt16(clamping: $0) } ?? .max) << 8
    }

    /// Reads a ``code``; nil if its platform is unknown.
    public init?(code: UInt64) {
        guard let platform = Platform.allCases.first(where: { UInt64($0.code) == code >> 48 })
        else { return nil }
        let minor = UInt16(truncatingIfNeeded: code >> 8)
        self.init(
            platform: platform,
            major: Int(UInt16(truncatingIfNeeded: code >> 24)),
            minor: minor == .max ? nil : Int(minor)
        )
    }
}

/// The shares of system releases among clicks.
struct ReleaseShares: Sendable {
    private var clicks: [Platform: Double] = [:]
    /// The clicks by their release without the minor number: releases with different major numbers never agree.
    private var byMajor: [OSRelease: [(release: OSRelease, count: Double)]] = [:]

    init(_ counters: ModelCounters) {
        for (code, count) in counters.all(.releases).sorted(by: { $0.key < $1.key }) {
            guard let release = OSRelease(code: code) else { continue }
            clicks[release.platform, default: 0] += count
            byMajor[Self.major(release), default: []].append((release, count))
        }
    }

    private static func major(_ release: OSRelease) -> OSRelease {
        OSRelease(platform: release.platform, major: release.major)
    }

    /// Returns the share of the platform's clicks whose system agrees; always between 0 and 1.
    func share(agreeingWith release: OSRelease) -> Double {
        var agreeing = 0.0
        for entry in byMajor[Self.major(release)] ?? [] where entry.release.agrees(with: release) {
            agreeing += entry.count
        }
        return ModelConstants.smoothedShare(agreeing, of: clicks[release.platform, default: 0])
    }
}

/// The weight of agreement between the systems of a click and a launch: the ratio
/// P(both releases | same device) / P(both releases | stranger).
struct ReleaseLikelihood {
    private let launch: OSRelease?
    private let agreeing: Double
    private let differing: Double

    init(_ launch: OSRelease?, _ shares: ReleaseShares) {
        self.launch = launch
        let share = launch.map(shares.share(agreeingWith:)) ?? 0.5
        agreeing = ModelConstants.sameDeviceAgreement / share
        differing = ModelConstants.sameDeviceDifference / (1 - share)
    }

    /// Returns the ratio; 1 if either release is unknown, the platforms differ, or the fingerprint may contain the
    /// release.
    func ratio(_ click: OSRelease?, form: FingerprintForm?) -> Double {
        // A fingerprint that contains the system's version has compared it already. A ready-made one, whose form is
        // unknown, may have compared it too.
        guard let form, !form.components.contains(.osVersion) else { return 1 }
        guard let launch, let click, launch.platform == click.platform else { return 1 }
        return launch.agrees(with: click) ? agreeing : differing
    }
}
