/// A first launch asking whether a click led to it.
public struct Check: Sendable {
    public var app: AppID
    public var isTest: Bool
    /// By what the launch may be recognised, keyed.
    public var ladder: MatchingLadder
    /// The installation's hashes under every key that claims may be stored under, the current one first.
    ///
    /// Empty for a client that sends no install id; with one, the grace is never used.
    public var installs: [KeyedHash]
    /// When the check happened; expiry is judged by it.
    public var at: Timestamp
    /// When its first byte was read, in nanoseconds of the process's monotonic clock.
    public var firstByteAt: UInt64
    /// How long after an answer the same caller may have it again, in milliseconds; 0 switches it off.
    public var replayGrace: Int64
    public var platform: Platform
    /// What the app wants done with a probability.
    public var policy: MatchPolicy
    /// What most checks never need.
    public var source: any LaunchSource
    /// What the watch on match rates counts it by.
    public var launch: CountedLaunch
    /// When its answer must be decided, in the store's own time; see ``ClickStore/setDeadline(of:)``.
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
        self.app = app
        self.isTest = isTest
        self.ladder = ladder
        self.source = source
        self.installs = installs
        self.at = at
        self.firstByteAt = firstByteAt
        self.replayGrace = replayGrace
        self.platform = platform
        self.policy = policy
        self.launch = launch ?? CountedLaunch(platform: platform)
    }

    /// What the posterior is made of, apart from the clicks.
    public var traits: LaunchTraits {
        let details = details
        return LaunchTraits(
            at: at,
            hasAddress: details.address != nil,
            release: details.release,
            signals: details.signals
        )
    }

    /// See ``LaunchSource/caller``.
    public var caller: KeyedHash { source.caller }

    /// The caller under every key that claims of the grace may be stored under.
    public var callers: [KeyedHash] { [source.caller] + source.earlierCallers }

    public var details: LaunchDetails { source.details }
}

/// What a launch tells and most checks never need: computed when it is first read.
///
/// Sendable for ``Check``; read on the launch's loop alone.
public protocol LaunchSource: AnyObject, Sendable {
    /// Who may ask for a lost answer again, as a keyed hash: same API key, evidence, exact address and user agent.
    var caller: KeyedHash { get }
    /// The caller under the keys of earlier days, as far as the grace reaches back.
    var earlierCallers: [KeyedHash] { get }
    var details: LaunchDetails { get }
}

/// Values of a launch that are there already.
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

/// What a launch tells beside what it may be recognised by: evidence, and what its record says.
public struct LaunchDetails: Equatable, Sendable {
    /// Nil where its address tells nothing.
    public var address: LaunchAddress?
    public var release: OSRelease?
    /// Values that a fingerprint may not hold.
    public var signals: SignalHashes
    /// As `ios 1.8.9`, at most 64 characters; nil when the client does not tell.
    public var sdkVersion: String?
    /// What the request's log line and its answer carry.
    public var requestID: String?
    /// When the device says that the app was installed.
    public var firstInstalledAt: Timestamp?

    public init(
        address: LaunchAddress? = nil,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        sdkVersion: String? = nil,
        requestID: String? = nil,
        firstInstalledAt: Timestamp? = nil
    ) {
        self.address = address
        self.release = release
        self.signals = signals
        self.sdkVersion = sdkVersion
        self.requestID = requestID
        self.firstInstalledAt = firstInstalledAt
    }
}
