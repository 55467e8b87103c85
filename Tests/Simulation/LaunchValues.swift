public import Attribution

/// The values of a launch, computed in advance.
public final class LaunchValues: LaunchSource {
    public let caller: KeyedHash
    public let earlierCallers: [KeyedHash]
    public let details: LaunchDetails

    public init(
        caller: KeyedHash,
        earlierCallers: [KeyedHash] = [],
        details: LaunchDetails = LaunchDetails()
    ) {
        self.caller = caller
        self.earlierCallers = earlierCallers
        self.details = details
    }
}

extension LaunchDetails {
    public init(
        address: LaunchAddress? = nil,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        sdkVersion: String? = nil,
        requestID: String? = nil,
        firstInstalledAt: Timestamp? = nil
    ) {
        self.init()
        self.address = address
        self.release = release
        self.signals = signals
        self.sdkVersion = sdkVersion
        self.requestID = requestID
        self.firstInstalledAt = firstInstalledAt
    }
}

extension MatchingLadder {
    /// Creates the ladder of a launch with only a fingerprint, under a single server key.
    public init(fingerprint: KeyedHash) { self.init(fingerprintUnderEachKey: [fingerprint]) }
}
