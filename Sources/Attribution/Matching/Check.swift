/// A first launch asking whether a click led to it.
public struct Check: Equatable, Sendable {
    public var app: AppID
    public var isTest: Bool
    /// By what the launch may be recognised, keyed.
    public var ladder: MatchingLadder
    /// Who may ask for a lost answer again.
    public var caller: Caller
    /// From the install id, where the client sent one.
    ///
    /// With it, the grace is never used.
    public var install: KeyedHash?
    /// The same under keys that were used before.
    public var earlier: HashesUnderFormerKeys
    /// When the check happened; expiry is judged by it.
    public var at: Timestamp
    /// When its first byte was read, in nanoseconds of the process's monotonic clock.
    public var firstByteAt: UInt64
    /// How long after an answer the same caller may have it again, in milliseconds; 0 switches it off.
    public var replayGrace: Int64
    public var platform: Platform
    /// What the app wants done with a probability.
    public var policy: MatchPolicy
    /// What else the launch tells.
    public var details: Deferred<LaunchDetails>
    /// What the watch on match rates counts it by.
    public var launch: CountedLaunch
    /// When its answer must be decided, in the store's own time; see ``ClickStore/begin(_:)``.
    public var deadline: UInt64 = .max

    public init(
        app: AppID,
        isTest: Bool = false,
        ladder: MatchingLadder,
        caller: Caller,
        install: KeyedHash? = nil,
        earlier: HashesUnderFormerKeys = HashesUnderFormerKeys(),
        at: Timestamp,
        firstByteAt: UInt64,
        replayGrace: Int64,
        platform: Platform = .unknown,
        policy: MatchPolicy = MatchPolicy(),
        details: Deferred<LaunchDetails> = Deferred(LaunchDetails()),
        launch: CountedLaunch? = nil
    ) {
        self.app = app
        self.isTest = isTest
        self.ladder = ladder
        self.caller = caller
        self.install = install
        self.earlier = earlier
        self.at = at
        self.firstByteAt = firstByteAt
        self.replayGrace = replayGrace
        self.platform = platform
        self.policy = policy
        self.details = details
        self.launch = launch ?? CountedLaunch(platform: platform)
    }

    /// What the posterior is made of, apart from the clicks.
    public var traits: LaunchTraits {
        let details = details.value
        return LaunchTraits(
            at: at,
            hasAddress: details.address != nil,
            release: details.release,
            signals: details.signals
        )
    }
}

/// Who asks, as claims that were made before the present keys say it.
public struct HashesUnderFormerKeys: Equatable, Sendable {
    /// The caller, as far as the grace reaches back.
    public var callers: Deferred<[KeyedHash]>
    public var installs: [KeyedHash]

    public init(callers: Deferred<[KeyedHash]> = Deferred([]), installs: [KeyedHash] = []) {
        self.callers = callers
        self.installs = installs
    }
}

extension Check {
    /// The installation under every key that claims may be stored under; empty for a client that sends none.
    public var installs: [KeyedHash] { install.map { [$0] + earlier.installs } ?? [] }

    /// The caller, likewise.
    public var callers: [KeyedHash] { [caller.hash] + earlier.callers.value }
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
