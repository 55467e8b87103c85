package import Attribution

/// How the codewords of a version and level are cut into blocks that are corrected one by one.
///
/// Source: ISO/IEC 18004, table of error correction characteristics.
package struct QRBlocks: Equatable, Sendable {
    package let count: Int
    package let correctionCodewordsPerBlock: Int
    /// Data codewords of all blocks.
    package let dataCodewordCount: Int

    /// Data codewords of the first blocks; each of the others has one more.
    package var shortLength: Int { dataCodewordCount / count }
    package var shortCount: Int { count - dataCodewordCount % count }

    /// The block to which a codeword belongs, by its place in the order in which they are drawn.
    func block(ofCodeword index: Int) -> Int {
        let interleaved = shortLength * count
        if index < interleaved { return index % count }
        if index < dataCodewordCount { return shortCount + index - interleaved }
        return (index - dataCodewordCount) % count
    }
}

extension QRVersion {
    package func blocks(_ level: QRErrorCorrection) -> QRBlocks {
        let row = Self.row(of: level)
        let count = row.blocks[number - 1]
        let correction = row.correction[number - 1]
        return QRBlocks(
            count: count,
            correctionCodewordsPerBlock: correction,
            dataCodewordCount: codewordCount - count * correction
        )
    }

    /// By version, the first being 1: blocks, and error correction codewords of each.
    private struct Row {
        let blocks: [Int]
        let correction: [Int]
    }

    private static func row(of level: QRErrorCorrection) -> Row {
        switch level {
        case .low: low
        case .medium: medium
        case .quartile: quartile
        case .high: high
        }
    }

    private static let low = Row(
        blocks: [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8,
            8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25,
        ],
        correction: [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28,
            28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ]
    )

    private static let medium = Row(
        blocks: [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16,
            17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
        ],
        correction: [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
            26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ]
    )

    private static let quartile = Row(
        blocks: [
            1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20,
            23, 23, 25, 27, 29, 34, 34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68,
        ],
        correction: [
            13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30,
            28, 30, 30, 30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ]
    )

    private static let high = Row(
        blocks: [
            1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25,
            25, 34, 30, 32, 35, 37, 40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81,
        ],
        correction: [
            17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28,
            30, 24, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ]
    )
}
