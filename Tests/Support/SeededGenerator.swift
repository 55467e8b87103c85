/// A random number generator that returns the same numbers for the same seed on every machine (SplitMix64).
///
/// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
@frozen
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    @inlinable
    public init(seed: UInt64) { state = seed }

    // Inlinable, because simulations draw millions of numbers, and are optimised in debug builds too.
    @inlinable
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mixed(state)
    }

    /// Returns a number of which each bit depends on all bits of `number`.
    @inlinable
    public static func mixed(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }

    /// Returns a text of random pieces, whose number is random within `count`.
    public mutating func text(of pieces: [String], count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }
            .joined()
    }
}
