/// A first launch of a newer client, which tells what it knows instead of a hash of it.
public struct ResolveRequest: Equatable, Sendable {
    public var evidence: LaunchEvidence
    /// The languages that the app has, where it tells.
    public var localizations: [String]?
    public var installID: InstallID?
    /// When the system says that the app was installed first: a reinstall is not an install.
    public var firstInstalledAt: Timestamp?
    public var platform: Platform?

    public init(
        evidence: LaunchEvidence,
        localizations: [String]? = nil,
        installID: InstallID? = nil,
        firstInstalledAt: Timestamp? = nil,
        platform: Platform? = nil
    ) {
        self.evidence = evidence
        self.localizations = localizations
        self.installID = installID
        self.firstInstalledAt = firstInstalledAt
        self.platform = platform
    }
}
