/// The code that lets a decoder restore damaged codewords.
///
/// Arithmetic in the field of 256 elements whose polynomial is x⁸ + x⁴ + x³ + x² + 1. Source: ISO/IEC 18004, section on
/// error correction.
package struct ReedSolomon: Sendable {
    /// The logarithms of the generator polynomial's coefficients, behind the first, which is 1.
    private let generator: [Int]

    /// - Parameter correctionCodewords: how many a block gets, at least 1.
    package init(correctionCodewords: Int) {
        let powers = Self.powers
        let logarithms = Self.logarithms
        /// (x − 2⁰)(x − 2¹)…, the highest coefficient first.
        var polynomial: [UInt8] = [1]
        for root in 0..<correctionCodewords {
            polynomial.append(0)
            for index in stride(from: polynomial.count - 1, to: 0, by: -1) {
                let before = polynomial[index - 1]
                if before != 0 { polynomial[index] ^= powers[logarithms[Int(before)] + root] }
            }
        }
        // No coefficient of a generator in use is 0.
        generator = polynomial.dropFirst().map { logarithms[Int($0)] }
    }

    /// The error correction codewords of a block: what is left when it is divided by the generator.
    package func correction(of block: ArraySlice<UInt8>) -> [UInt8] {
        let powers = Self.powers
        let logarithms = Self.logarithms
        var rest = Array(block) + Array(repeating: 0, count: generator.count)
        for index in 0..<block.count where rest[index] != 0 {
            let factor = logarithms[Int(rest[index])]
            for (offset, coefficient) in generator.enumerated() {
                rest[index + 1 + offset] ^= powers[factor + coefficient]
            }
        }
        return Array(rest[block.count...])
    }

    /// 2ⁿ, twice over, so that a sum of two logarithms needs no remainder.
    private static let powers: [UInt8] = {
        var powers: [UInt8] = []
        var power = 1
        for _ in 0..<510 {
            powers.append(UInt8(power))
            power <<= 1
            if power > 255 { power ^= 0x11d }
        }
        return powers
    }()

    /// The inverse of ``powers``; 0, which has none, is given 0.
    private static let logarithms: [Int] = {
        var logarithms = [Int](repeating: 0, count: 256)
        for exponent in 0..<255 { logarithms[Int(powers[exponent])] = exponent }
        return logarithms
    }()
}
