/// A component of the signals that is not part of the fingerprint, as evidence beside it.
public struct SignalValue: Hashable, Sendable {
    public let component: SignalComponent
    /// The value under a keyed hash: equal values have equal ones.
    public let value: UInt64

    public init(_ component: SignalComponent, value: UInt64) {
        self.component = component
        self.value = value
    }

    /// The value as a counter's key.
    public var code: UInt64 { Self.code(component, value | 1) }

    /// The key under which all values of a component are counted together.
    public static func totalCode(_ component: SignalComponent) -> UInt64 { code(component, 0) }

    private static func code(_ component: SignalComponent, _ value: UInt64) -> UInt64 {
        // The first letters differ, and stay what they are when components are added.
        UInt64(component.rawValue.utf8.first ?? 0) << 56 | value & 0x00ff_ffff_ffff_ffff
    }
}
