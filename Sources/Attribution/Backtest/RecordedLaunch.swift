/// A launch as it was recorded.
public struct RecordedLaunch: Equatable, Sendable {
    /// What really led to it.
    public enum Truth: Equatable, Sendable {
        /// The click of this name.
        case click(UInt64)
        /// No click.
        case organic
        /// None: the device had launched before, and the app was installed anew.
        case reinstall
        /// The same question again, because the answer was lost.
        case retry
    }

    public var at: Timestamp
    /// Hashes of what the client sent or may have sent; none where it brought a token alone.
    ///
    /// A click that several of them find counts by the first of these.
    public var fingerprints: [UInt64]
    public var address: AddressHashes?
    /// A hash of the install id; else of fingerprint, exact address and agent: who asks again.
    public var caller: UInt64
    /// Whether ``caller`` is an install id, which gets its answer again as long as the click's window lasts.
    public var hasInstallID: Bool
    public var release: OSRelease?
    public var signals: SignalHashes
    /// The name of the click that its token names, or by a database's word another sure way.
    public var token: UInt64?
    /// Nil where it is not known.
    public var truth: Truth?
    public var person: UInt64?
    /// For how many launches it stands: in a flood, for some that were not recorded.
    public var weight = 1
    /// What it was really answered; nil where that is not known.
    public var answer: RecordedAnswer?

    public init(
        at: Timestamp,
        fingerprints: [UInt64],
        address: AddressHashes? = nil,
        caller: UInt64,
        hasInstallID: Bool = false,
        release: OSRelease? = nil,
        signals: SignalHashes = .none,
        token: UInt64? = nil,
        truth: Truth? = nil,
        person: UInt64? = nil
    ) {
        self.at = at
        self.fingerprints = fingerprints
        self.address = address
        self.caller = caller
        self.hasInstallID = hasInstallID
        self.release = release
        self.signals = signals
        self.token = token
        self.truth = truth
        self.person = person
    }

    /// What the posterior is made of, apart from the clicks.
    var traits: LaunchTraits {
        LaunchTraits(at: at, hasAddress: address != nil, release: release, signals: signals)
    }
}
