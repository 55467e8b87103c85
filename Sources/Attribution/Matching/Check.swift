/// A first launch's request for the click that led to it.
public struct Check: Sendable {
    public var app: AppID
    public var isTest: Bool
    /// The ways to recognise the launch, strongest first, as keyed hashes.
    public var ladder: MatchingLadder
    /// The keyed hashes of the install id, one for each server key under which claims may be stored, the
    /// current key first.
    ///
    /// Empty for a client that sends no install id. A check with an install id does not use ``replayGrace``.
    public var installs: [KeyedHash]
    /// The time of the check, which decides whether clicks have expired.
    public var at: Timestamp
    /// The time at which the request's first byte was read, in nanoseconds of the process's monotonic clock.
    public var firstByteAt: UInt64
    /// The grace: the milliseconds after an answer within which the same caller may get it again; 0 for none.
    public var replayGrace: Int64
    public var platform: Platform
    /// The app's policy on the use of probabilities.
    public var policy: MatchPolicy
    /// The values of the launch that most checks never need.
    public var source: any LaunchSource
    /// The properties by which the check is counted for the watch on match rates.
    public var launch: CountedLaunch
    /// The deadline that ``ClickStore/setDeadline(of:)`` sets, in nanoseconds of the store's monotonic clock.
    public var deadline: UInt64 = .max

    public init(
        app: AppID,
        isTest: Bool = false,
        ladder: MatchingLadder,
        source: any LaunchSource,
        installs: [KeyedHash] = [],
        at: Timestamp,
        firstByteAt: UInt64,
        replayGrace: Int64,
        platform: Platform = .unknown,
        policy: MatchPolicy = MatchPolicy(),
        launch: CountedLaunch? = nil
    ) {
        (self.app, self.isTest, self.ladder) = (app, isTest, ladder)
        (self.source, self.installs, self.at) = (source, installs, at)
        (self.firstByteAt, self.replayGrace) = (firstByteAt, replayGrace)
        (self.platform, self.policy) = (platform, policy)
        self.launch = launch ?? CountedLaunch(platform: platform)
    }

    /// The launch's part of the input of the ``Posterior``; the other part is the clicks.
    public var traits: LaunchTraits {
        let details = details
        return LaunchTraits(
            at: at,
            hasAddress: details.address != nil,
            release: details.release,
            signals: details.signals
        )
    }

    /// The caller, as in ``LaunchSource/caller``.
    public var caller: KeyedHash { source.caller }

    /// The caller's hashes under each daily key that was current within ``replayGrace``.
    public var callers: [KeyedHash] { [source.caller] + source.earlierCallers }

    public var details: LaunchDetails { source.details }
}

/// The values of a launch that most checks never need, computed when they are first read.
///
/// It is sendable because ``Check`` is, but only the event loop that serves the check reads it.
public protocol LaunchSource: AnyObject, Sendable {
    /// The caller that may request a lost answer again: a keyed hash of API key, evidence, exact address and
    /// user agent.
    var caller: KeyedHash { get }
    /// The caller's hashes under the keys of earlier days that are within ``Check/replayGrace``.
    var earlierCallers: [KeyedHash] { get }
    var details: LaunchDetails { get }
}

/// The values of a launch in addition to its ladder: evidence, and values for its record.
public struct LaunchDetails: Equatable, Sendable {
    /// Nil if the launch's address distinguishes no visitors.
    public var address: LaunchAddress?
    public var release: OSRelease?
    /// The launch's signals that some forms of fingerprint omit.
    public var signals = SignalHashes.none
    /// The SDK's version, such as `ios 1.8.9`, at most 64 characters; nil if the client does not send it.
    public var sdkVersion: String?
    /// The request id in the log line and in the response.
    public var requestID: String?
    /// When the app was first installed, according to the device.
    public var firstInstalledAt: Timestamp?
    /// Google Play's report on the installation; nil if the client does not send it.
    public var play: PlayEvidence?

    public init() {}
}
