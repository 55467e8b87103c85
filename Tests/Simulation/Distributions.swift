import Foundation
public import Support

extension SeededGenerator {
    /// Returns a uniformly distributed number from 0 to below 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    public mutating func chance(_ probability: Double) -> Bool { unit() < probability }

    /// Returns a uniformly distributed number from 0 to below `count`.
    public mutating func below(_ count: Int) -> Int { Int(next() % UInt64(max(1, count))) }

    public mutating func normal() -> Double {
        let radius = (-2 * log(max(unit(), 1e-300))).squareRoot()
        return radius * cos(2 * .pi * unit())
    }

    public mutating func logNormal(median: Double, sigma: Double) -> Double { median * exp(sigma * normal()) }

    /// Returns an index, each with a probability in proportion to its weight.
    public mutating func index(weights: [Double]) -> Int {
        var rest = unit() * weights.reduce(0, +)
        for (index, weight) in weights.enumerated() {
            rest -= weight
            if rest < 0 { return index }
        }
        return max(0, weights.count - 1)
    }

    /// Returns a number from 0 to below `count`, where r has a probability of about 1 / (r + 1).
    public mutating func skewed(below count: Int) -> Int {
        min(Int(pow(Double(count + 1), unit())) - 1, count - 1)
    }
}
