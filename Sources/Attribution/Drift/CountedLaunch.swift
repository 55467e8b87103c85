/// What a check is counted by when match rates are watched.
///
/// Numbers alone, so that a check that found nothing costs its event loop no more than a look into a table.
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
