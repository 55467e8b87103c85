internal import Crypto

/// Hashes of the device's values that some forms of fingerprint omit, in one word; they distinguish clicks
/// with the same fingerprint.
///
/// Each component has 16 bits: the start of a hash of its value, or 0 if the value is unknown. The word is stored, so
/// bit offsets and hashes must never change, and a new component gets the next offset. The hashes are not keyed: a
/// screen reveals nothing personal, and the hashes remain comparable when a server key is replaced.
public struct SignalHashes: Hashable, Sendable {
    /// The width in bits 0–15, the screen in bits 16–31; 0 for an unknown value.
    public let word: UInt64

    /// No value is known.
    public static let none = SignalHashes(word: 0)

    /// The components that a client may report and some form omits, in comparison order.
    ///
    /// The index determines the position of a hash in the word: append only.
    public static let components: [SignalComponent] = [.width, .screen]

    public init(word: UInt64) { self.word = word }

    /// Creates the hashes of values that are spelled as clicks spell them; ignores other components than
    /// ``components``.
    public init(_ values: [LaunchSignals.Value]) {
        var word: UInt64 = 0
        for value in values {
            guard let offset = Self.bitOffset(of: value.component) else { continue }
            word = word & ~(0xffff << offset) | UInt64(Self.hash(of: value.text)) << offset
        }
        self.word = word
    }

    public var isEmpty: Bool { word == 0 }

    /// The components whose values are known.
    public var components: [SignalComponent] { Self.components.filter { self[$0] != nil } }

    /// The component's hash; nil if its value is unknown.
    public subscript(_ component: SignalComponent) -> UInt16? {
        guard let offset = Self.bitOffset(of: component) else { return nil }
        let hash = UInt16(truncatingIfNeeded: word >> offset)
        return hash == 0 ? nil : hash
    }

    /// Returns the hashes of the components that a fingerprint of the form does not determine; the
    /// fingerprint has compared the others already.
    ///
    /// Returns ``none`` for a fingerprint that a client sent ready-made, which may contain anything.
    public func excludingComponents(of form: FingerprintForm?) -> SignalHashes {
        guard let form, word != 0 else { return .none }
        var remaining = word
        for component in Self.components where form.determines(component) {
            if let offset = Self.bitOffset(of: component) { remaining &= ~(0xffff << offset) }
        }
        return SignalHashes(word: remaining)
    }

    /// Compares the first component that both have; nil if they share none.
    func agrees(with other: SignalHashes) -> Bool? {
        for component in Self.components {
            if let hash = self[component], let otherHash = other[component] { return hash == otherHash }
        }
        return nil
    }

    /// Returns the position of the component's hash; nil for a component that every form determines, and for
    /// the system, which is compared as ``OSRelease``.
    private static func bitOffset(of component: SignalComponent) -> UInt64? {
        guard let index = components.firstIndex(of: component) else { return nil }
        return UInt64(index) * 16
    }

    /// Returns a hash that is never 0.
    private static func hash(of text: String) -> UInt16 {
        max(1, UInt16(truncatingIfNeeded: SHA256.digest(of: Array(text.utf8)).words.0 >> 48))
    }
}

extension CounterKey {
    /// The key that counts clicks with this hash of a component.
    init(_ component: SignalComponent, hash: UInt16) {
        // The first letters of components differ, and remain the same when components are added.
        self.init(.signals, UInt64(component.rawValue.utf8.first ?? 0) << 56 | UInt64(hash))
    }

    /// The key that counts clicks with any value of the component.
    init(allOf component: SignalComponent) { self.init(component, hash: 0) }

    /// Whether the key counts the clicks with any value of a component.
    var isOfAll: Bool { SignalComponent.allCases.contains { self == CounterKey(allOf: $0) } }
}

/// The shares of signal values among clicks.
struct SignalShares: Sendable {
    private let counts: [UInt64: Double]

    init(_ counters: ModelCounters) { counts = counters.all(.signals) }

    /// Returns the share of this hash among the clicks with a value of the component; always between 0 and 1.
    func share(of hash: UInt16, _ component: SignalComponent) -> Double {
        ModelConstants.smoothedShare(
            counts[CounterKey(component, hash: hash).key] ?? 0,
            of: counts[CounterKey(allOf: component).key] ?? 0
        )
    }
}

/// The weight of agreement between the signals of a click and a launch: the ratio
/// P(both values | same device) / P(both values | stranger).
struct SignalLikelihood {
    private struct Known {
        let component: SignalComponent
        let hash: UInt16
        let agreeing: Double
        let differing: Double
    }

    /// The values of the launch, in comparison order.
    private var known: [Known] = []

    init(_ launch: SignalHashes, _ shares: SignalShares) {
        guard !launch.isEmpty else { return }
        for component in SignalHashes.components {
            guard let hash = launch[component] else { continue }
            let share = shares.share(of: hash, component)
            known.append(
                Known(
                    component: component,
                    hash: hash,
                    agreeing: ModelConstants.sameDeviceAgreement / share,
                    differing: ModelConstants.sameDeviceDifference / (1 - share)
                )
            )
        }
    }

    /// Returns the ratio; 1 if no component is known for both.
    ///
    /// Only one component counts, because all of them describe the same screen.
    func ratio(_ click: SignalHashes) -> Double {
        guard let (known, hash) = compared(click) else { return 1 }
        return hash == known.hash ? known.agreeing : known.differing
    }

    /// Returns whether a component is known for both.
    func compares(_ click: SignalHashes) -> Bool { compared(click) != nil }

    private func compared(_ click: SignalHashes) -> (Known, UInt16)? {
        guard !click.isEmpty else { return nil }
        for known in known { if let hash = click[known.component] { return (known, hash) } }
        return nil
    }
}
