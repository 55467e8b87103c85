internal import Crypto

/// What a click or a launch tells of its device beside a fingerprint, in one word: by it clicks that one fingerprint
/// finds are told apart.
///
/// A mark of 16 bits for each component that some form of fingerprint leaves out, cut from a hash of its value; 0 for
/// one that is not told. The word is stored: a place or a mark never changes, and a new component takes the next place.
/// The hash is not keyed, because a screen is nobody's secret, and marks stay comparable when a server key is replaced.
public struct SignalHashes: Hashable, Sendable {
    /// The width in bits 0–15, the screen in bits 16–31; 0 where nothing is told.
    public let word: UInt64

    /// Nothing is told.
    public static let none = SignalHashes(word: 0)

    /// Those that can be told, what is compared first before the others.
    static let components: [SignalComponent] = [.width, .screen]

    public init(word: UInt64) {
        self.word = word
    }

    /// Of values as clicks spell them; those of other components tell nothing.
    public init(_ values: [LaunchSignals.Value]) {
        var word: UInt64 = 0
        for value in values {
            guard let place = Self.place(of: value.component) else { continue }
            word = word & ~(0xffff << place) | UInt64(Self.mark(of: value.text)) << place
        }
        self.word = word
    }

    public var isEmpty: Bool { word == 0 }

    /// What is told.
    public var components: [SignalComponent] { Self.components.filter { self[$0] != nil } }

    /// The component's mark; nil where it is not told.
    public subscript(_ component: SignalComponent) -> UInt16? {
        guard let place = Self.place(of: component) else { return nil }
        let mark = UInt16(truncatingIfNeeded: word >> place)
        return mark == 0 ? nil : mark
    }

    /// As far as a fingerprint of the form does not hold it: what it holds has been compared already.
    ///
    /// Nothing beside one that came ready-made, which may hold anything.
    public func beside(_ form: FingerprintForm?) -> SignalHashes {
        guard let form, word != 0 else { return .none }
        var rest = word
        for component in Self.components where form.holds(component) {
            if let place = Self.place(of: component) { rest &= ~(0xffff << place) }
        }
        return SignalHashes(word: rest)
    }

    /// Whether both tell the same of the first component of which both tell; nil where there is none.
    func agrees(with other: SignalHashes) -> Bool? {
        for component in Self.components {
            if let mark = self[component], let otherMark = other[component] { return mark == otherMark }
        }
        return nil
    }

    private static func place(of component: SignalComponent) -> UInt64? {
        switch component {
        case .width: 0
        case .screen: 16
        // Every form holds these, or they are compared as `OSRelease`.
        case .model, .osVersion, .timezone, .language: nil
        }
    }

    /// Never 0.
    private static func mark(of text: String) -> UInt16 {
        max(1, UInt16(truncatingIfNeeded: SHA256.digest(of: Array(text.utf8)).words.0 >> 48))
    }
}

extension CounterKey {
    /// Clicks with this mark of a component.
    init(_ component: SignalComponent, mark: UInt16) {
        // The first letters differ, and stay what they are when components are added.
        self.init(.signals, UInt64(component.rawValue.utf8.first ?? 0) << 56 | UInt64(mark))
    }

    /// Clicks that tell of the component at all.
    init(allOf component: SignalComponent) {
        self.init(component, mark: 0)
    }

    /// Whether it counts the clicks that tell of a component at all.
    var isOfAll: Bool {
        SignalComponent.allCases.contains { self == CounterKey(allOf: $0) }
    }
}
