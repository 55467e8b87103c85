import Foundation

/// A seeded generator: the same seed gives the same world everywhere.
///
/// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mixed(state)
    }

    /// Spreads the bits of a number over all bits.
    public static func mixed(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }

    /// Evenly from 0 to below 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    public mutating func chance(_ probability: Double) -> Bool { unit() < probability }

    /// Evenly from 0 to below `count`.
    public mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }

    public mutating func normal() -> Double {
        let radius = (-2 * log(max(unit(), 1e-300))).squareRoot()
        return radius * cos(2 * .pi * unit())
    }

    public mutating func logNormal(median: Double, sigma: Double) -> Double { median * exp(sigma * normal()) }

    /// An index, each as likely as its weight.
    public mutating func index(weights: [Double]) -> Int {
        var rest = unit() * weights.reduce(0, +)
        for (index, weight) in weights.enumerated() {
            rest -= weight
            if rest < 0 { return index }
        }
        return max(0, weights.count - 1)
    }

    /// From 0 to below `count`, low numbers much more often: rank r with a likelihood of about 1 / (r + 1).
    public mutating func skewed(below count: Int) -> Int {
        min(Int(pow(Double(count + 1), unit())) - 1, count - 1)
    }
}
