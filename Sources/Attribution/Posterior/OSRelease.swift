/// An operating system's release as far as evidence goes: major and minor number.
public struct OSRelease: Hashable, Sendable {
    public let platform: Platform
    public let major: Int
    /// Nil when it is not told.
    public let minor: Int?
    /// The minor number is this or a later one: Darwin's stops at 6.
    public let isAtLeast: Bool

    public init(platform: Platform, major: Int, minor: Int? = nil, isAtLeast: Bool = false) {
        self.platform = platform
        self.major = major
        self.minor = minor
        self.isAtLeast = isAtLeast
    }

    public init(_ version: OSVersion, on platform: Platform) {
        // An Android's minor number is told by some agents and not by others.
        self.init(platform: platform, major: version.major, minor: platform == .ios ? version.minor : nil)
    }

    /// From the default agent of an app's own requests, as `App/1 CFNetwork/1568.1 Darwin/24.1.0` or
    /// `Dalvik/2.1.0 (Linux; U; Android 14; SM-S911B Build/…)`; nil when it does not tell.
    ///
    /// - Parameters:
    ///   - launchAgent: the whole `User-Agent`.
    ///   - releases: which system has which kernel.
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

    /// Whether both may be the same system.
    public func agrees(with other: OSRelease) -> Bool {
        guard platform == other.platform, major == other.major else { return false }
        guard let minor, let otherMinor = other.minor else { return true }
        if isAtLeast && otherMinor >= minor || other.isAtLeast && minor >= otherMinor { return true }
        return minor == otherMinor
    }

    /// The release as a counter's key.
    public var code: UInt64 {
        UInt64(platform.code) << 48 | UInt64(UInt16(clamping: major)) << 24
            | UInt64(minor.map { UInt16(clamping: $0) } ?? .max) << 8
    }

    /// The release of a key; nil for one that is none.
    public init?(code: UInt64) {
        guard let platform = Platform.allCases.first(where: { UInt64($0.code) == code >> 48 }) else {
            return nil
        }
        let minor = UInt16(truncatingIfNeeded: code >> 8)
        self.init(
            platform: platform,
            major: Int(UInt16(truncatingIfNeeded: code >> 24)),
            minor: minor == .max ? nil : Int(minor)
        )
    }
}
