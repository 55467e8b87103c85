/// A fingerprint under which a recorded click can be found.
public struct RecordedFingerprint: Hashable, Sendable {
    /// A hash of the fingerprint.
    public var key: UInt64
    /// Nil for one that came ready-made.
    public var form: FingerprintForm?
    /// How likely the click's device sends it, 0…1.
    public var weight: Double
    /// The system that the device has if it sends it.
    public var release: OSRelease?

    public init(key: UInt64, form: FingerprintForm?, weight: Double = 1, release: OSRelease? = nil) {
        self.key = key
        self.form = form
        self.weight = weight
        self.release = release
    }
}

/// A click as it was recorded.
public struct RecordedClick: Equatable, Sendable {
    /// By what launches name it: a hash of its identifier; nil where none does.
    public var name: UInt64?
    public var at: Timestamp
    /// When it was told of, where that was later than ``at``: from then on launches find it.
    public var recordedAt: Timestamp?
    public var platform: Platform
    /// None where only a token can lead to it.
    public var fingerprints: [RecordedFingerprint]
    /// Nil where it is not known or says nothing.
    public var address: AddressHashes?
    /// A hash of exact address and agent; of the agent alone where there is no address that says something.
    public var visitor: UInt64
    /// A hash of fingerprint, destination, address and agent, where that is known: what duplicates have in common.
    public var visit: UInt64?
    public var destination: CreditedDestination
    /// Its own; nil for what holds where a click has none.
    public var window: AttributionWindow?
    /// Values that a fingerprint may not hold.
    public var signals: SignalHashes
    /// Nobody tapped: it is never a candidate.
    public var isRobot: Bool
    /// When a launch consumed it that is not among those that are played.
    public var consumedAt: Timestamp?
    /// Who it was, where that is known.
    public var person: UInt64?

    public init(
        name: UInt64?,
        at: Timestamp,
        platform: Platform,
        fingerprints: [RecordedFingerprint],
        address: AddressHashes? = nil,
        visitor: UInt64,
        destination: CreditedDestination,
        window: AttributionWindow? = nil,
        signals: SignalHashes = .none,
        isRobot: Bool = false,
        person: UInt64? = nil
    ) {
        self.name = name
        self.at = at
        self.platform = platform
        self.fingerprints = fingerprints
        self.address = address
        self.visitor = visitor
        self.destination = destination
        self.window = window
        self.signals = signals
        self.isRobot = isRobot
        self.person = person
    }
}
