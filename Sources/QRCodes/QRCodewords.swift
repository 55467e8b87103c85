/// The bytes of a code: the padded text with its error correction.
package enum QRCodewords {
    /// Announces UTF-8, which is Extended Channel Interpretation 26.
    private static let utf8Announcement: UInt32 = 0b0111_0001_1010
    static let utf8AnnouncementBitCount = 12

    /// Encodes the text as data codewords, before they are split into blocks.
    ///
    /// - Parameters:
    ///   - segments: the whole text.
    ///   - sizes: the range that contains the code's version.
    ///   - capacity: the number of data codewords, which must suffice for the text.
    ///   - announcesUTF8: whether the codewords start with the announcement of UTF-8.
    /// - Returns: exactly `capacity` codewords.
    package static func data(
        of segments: [QRSegment],
        in sizes: QRVersionSizes,
        capacity: Int,
        announcesUTF8: Bool = false
    ) -> [UInt8] {
        var bits = QRBits()
        if announcesUTF8 { bits.append(utf8Announcement, count: utf8AnnouncementBitCount) }
        for segment in segments { segment.append(to: &bits, in: sizes) }
        // Four zeros end the text, or fewer if there is no room for four.
        bits.append(0, count: max(0, min(4, capacity * 8 - bits.count)))
        let padding: [UInt8] = [0xec, 0x11]
        return bits.bytes + (0..<max(0, capacity - bits.bytes.count)).map { padding[$0 & 1] }
    }

    /// Returns the codewords in drawing order: the first of each block, the second of each block, and so on.
    ///
    /// So damage in one area affects many blocks a little.
    package static func interleaved(_ data: [UInt8], in blocks: QRBlocks) -> [UInt8] {
        let code = ReedSolomon(correctionCodewords: blocks.correctionCodewordsPerBlock)
        var pieces: [ArraySlice<UInt8>] = []
        var remaining = data[...]
        for block in 0..<blocks.count {
            let length = blocks.shortLength + (block < blocks.shortCount ? 0 : 1)
            pieces.append(remaining.prefix(length))
            remaining = remaining.dropFirst(length)
        }
        let corrections = pieces.map { code.correction(of: $0) }
        var codewords: [UInt8] = []
        for index in 0...blocks.shortLength {
            for piece in pieces where index < piece.count {
                codewords.append(piece[piece.startIndex + index])
            }
        }
        for index in 0..<blocks.correctionCodewordsPerBlock {
            for correction in corrections { codewords.append(correction[index]) }
        }
        return codewords
    }
}

/// The error-correcting code with which a decoder restores damaged codewords.
///
/// It computes in the field of 256 elements with the polynomial x⁸ + x⁴ + x³ + x² + 1. Source: ISO/IEC 18004, section on
/// error correction.
package struct ReedSolomon: Sendable {
    /// The logarithms of the generator polynomial's coefficients after the leading one, which is 1.
    private let generator: [Int]

    /// - Parameter correctionCodewords: the number of correction codewords of a block, at least 1.
    package init(correctionCodewords: Int) {
        // The polynomial is (x − 2⁰)(x − 2¹)…, with the highest coefficient first.
        var polynomial: [UInt8] = [1]
        for root in 0..<correctionCodewords {
            polynomial.append(0)
            for index in stride(from: polynomial.count - 1, to: 0, by: -1) {
                let before = polynomial[index - 1]
                if before != 0 { polynomial[index] ^= Self.powers[Self.logarithms[Int(before)] + root] }
            }
        }
        // No coefficient of a generator in use is 0.
        generator = polynomial.dropFirst().map { Self.logarithms[Int($0)] }
    }

    /// Returns the error correction codewords of a block: the remainder of its division by the generator.
    package func correction(of block: ArraySlice<UInt8>) -> [UInt8] {
        let powers = Self.powers
        let logarithms = Self.logarithms
        var remainder = Array(block) + Array(repeating: 0, count: generator.count)
        for index in 0..<block.count where remainder[index] != 0 {
            let factor = logarithms[Int(remainder[index])]
            for (offset, coefficient) in generator.enumerated() {
                remainder[index + 1 + offset] ^= powers[factor + coefficient]
            }
        }
        return Array(remainder[block.count...])
    }

    /// The powers 2ⁿ for n up to 509, so that the sum of two logarithms is a valid index.
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

    /// The exponent n of each power 2ⁿ; the entry for zero, which has no logarithm, is 0.
    private static let logarithms: [Int] = {
        var logarithms = [Int](repeating: 0, count: 256)
        for exponent in 0..<255 { logarithms[Int(powers[exponent])] = exponent }
        return logarithms
    }()
}
