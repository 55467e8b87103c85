/// What a launch tells about itself beside its fingerprint.
public struct LaunchTraits: Equatable, Sendable {
    public var at: Timestamp
    /// Its address is known and says something: not loopback, private, shared, or a relay's.
    public var hasAddress: Bool
    public var release: OSRelease?
    /// What its fingerprint does not hold.
    public var signals: SignalHashes

    public init(
        at: Timestamp,
        hasAddress: Bool = false,
        release: OSRelease? = nil,
        signals: SignalHashes = .none
    ) {
        self.at = at
        self.hasAddress = hasAddress
        self.release = release
        self.signals = signals
    }
}

/// What a store knows about one launch: all that the posterior is made of, read in one consistent look.
///
/// The reads that it takes, each bounded whatever the traffic:
/// - the newest ``listed`` live clicks with the fingerprint, by its index;
/// - the newest ``listed`` clicks with the fingerprint that agree with the launch's address on the near level, live or
///   claimed within their window, however many others came from there; none for a launch without address;
/// - the other live clicks with the fingerprint as counts, from a summary that may be some seconds old;
/// - counts of live clicks at the exact and the near address, up to ``AddressTraffic/enough``;
/// - three counters: ``CounterFamily/organic`` of the fingerprint, ``CounterFamily/launchesAtAddress`` and
///   ``CounterFamily/launchesNearAddress``.
///
/// A launch with no live click stops after the first.
public struct CandidateEvidence: Equatable, Sendable {
    public var candidates: [Candidate]
    public var background: [BackgroundCount]
    public var crowd: AddressTraffic
    /// ``CounterFamily/organic`` of the fingerprint, at its present worth.
    public var organic: Double

    /// How many clicks a store tells one by one, for each of the two reasons to do so.
    public static let listed = 64

    public init(
        candidates: [Candidate],
        background: [BackgroundCount] = [],
        crowd: AddressTraffic = AddressTraffic(),
        organic: Double = 0
    ) {
        self.candidates = candidates
        self.background = background
        self.crowd = crowd
        self.organic = organic
    }
}
