package import Attribution

/// The size of a QR code, from version 1 (21 modules a side) to version 40 (177 modules a side).
///
/// Source: ISO/IEC 18004, sections on versions and sizes and on alignment patterns.
public struct QRVersion: Hashable, Comparable, Sendable {
    /// The number of the version, 1…40.
    public let number: Int

    public static let largest = QRVersion(unchecked: 40)

    /// All versions, smallest first.
    public static let all = (1...40).map { QRVersion(unchecked: $0) }

    /// Creates a version; nil if the number is not 1…40.
    public init?(_ number: Int) {
        guard (1...Self.largest.number).contains(number) else { return nil }
        self.init(unchecked: number)
    }

    private init(unchecked number: Int) { self.number = number }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// The number of rows, and of columns, without the quiet zone.
    public var modulesPerSide: Int { 17 + 4 * number }

    /// Whether the code contains its version number; decoders derive smaller versions from the size.
    var hasVersionInformation: Bool { number >= 7 }

    /// The rows, and also the columns, of the centres of alignment patterns; empty for version 1.
    ///
    /// The first centre is on the timing line, and the last one is on the seventh row or column from the edge. All
    /// distances between centres are the same even number, except the first distance, which is the remainder.
    package var alignmentCentres: [Int] {
        guard number > 1 else { return [] }
        let intervals = number / 7 + 1
        let last = modulesPerSide - 7
        // Only version 32 of the standard's table differs from this rule.
        let distance = number == 32 ? 26 : ((last - 6 + intervals - 1) / intervals + 1) / 2 * 2
        return [6] + (0..<intervals).reversed().map { last - $0 * distance }
    }

    /// The number of bytes of the whole code: data and error correction.
    package var codewordCount: Int {
        let side = modulesPerSide
        // The finders with their separators, both copies of the format with the dark module, and both timing lines.
        var functionModules = 3 * 64 + 31 + 2 * (side - 16)
        if number > 1 {
            let centres = number / 7 + 2
            // There is no alignment pattern at a finder. A pattern on a timing line shares five modules with the line.
            functionModules += 25 * (centres * centres - 3) - 2 * 5 * (centres - 2)
        }
        if hasVersionInformation { functionModules += 2 * 18 }
        return (side * side - functionModules) / 8
    }

    package func blocks(_ level: QRErrorCorrection) -> QRBlocks {
        let table =
            switch level {
            case .low: QRBlocks.low
            case .medium: QRBlocks.medium
            case .quartile: QRBlocks.quartile
            case .high: QRBlocks.high
            }
        let (count, correction) = table[number - 1]
        let data = codewordCount - count * correction
        return QRBlocks(count: count, correctionCodewordsPerBlock: correction, dataCodewordCount: data)
    }
}

/// A range of versions in which segments state their length in the same number of bits.
package enum QRVersionSizes: Int, CaseIterable, Sendable {
    case small
    case medium
    case large

    package var versions: ArraySlice<QRVersion> {
        switch self {
        case .small: QRVersion.all[0..<9]
        case .medium: QRVersion.all[9..<26]
        case .large: QRVersion.all[26..<40]
        }
    }
}

/// The blocks of the codewords of a version and level; each block has separate error correction.
package struct QRBlocks: Equatable, Sendable {
    package let count: Int
    package let correctionCodewordsPerBlock: Int
    /// The number of data codewords of all blocks together.
    package let dataCodewordCount: Int

    /// The number of data codewords of each of the first ``shortCount`` blocks; each further block has one more.
    package var shortLength: Int { dataCodewordCount / count }
    package var shortCount: Int { count - dataCodewordCount % count }

    /// Returns the block that contains the codeword at `index` in drawing order.
    func block(ofCodeword index: Int) -> Int {
        let interleaved = shortLength * count
        if index < interleaved { return index % count }
        if index < dataCodewordCount { return shortCount + index - interleaved }
        return (index - dataCodewordCount) % count
    }

    /// The number of blocks of one version, and the number of error correction codewords in each block.
    ///
    /// Source: ISO/IEC 18004, table of error correction characteristics.
    fileprivate typealias Row = (count: Int, correction: Int)

    fileprivate static let low: [Row] = [
        (1, 7), (1, 10), (1, 15), (1, 20), (1, 26), (2, 18), (2, 20), (2, 24), (2, 30), (4, 18), (4, 20),
        (4, 24), (4, 26), (4, 30), (6, 22), (6, 24), (6, 28), (6, 30), (7, 28), (8, 28), (8, 28), (9, 28),
        (9, 30), (10, 30), (12, 26), (12, 28), (12, 30), (13, 30), (14, 30), (15, 30), (16, 30), (17, 30),
        (18, 30), (19, 30), (19, 30), (20, 30), (21, 30), (22, 30), (24, 30), (25, 30),
    ]

    fileprivate static let medium: [Row] = [
        (1, 10), (1, 16), (1, 26), (2, 18), (2, 24), (4, 16), (4, 18), (4, 22), (5, 22), (5, 26), (5, 30),
        (8, 22), (9, 22), (9, 24), (10, 24), (10, 28), (11, 28), (13, 26), (14, 26), (16, 26), (17, 26),
        (17, 28), (18, 28), (20, 28), (21, 28), (23, 28), (25, 28), (26, 28), (28, 28), (29, 28), (31, 28),
        (33, 28), (35, 28), (37, 28), (38, 28), (40, 28), (43, 28), (45, 28), (47, 28), (49, 28),
    ]

    fileprivate static let quartile: [Row] = [
        (1, 13), (1, 22), (2, 18), (2, 26), (4, 18), (4, 24), (6, 18), (6, 22), (8, 20), (8, 24), (8, 28),
        (10, 26), (12, 24), (16, 20), (12, 30), (17, 24), (16, 28), (18, 28), (21, 26), (20, 30), (23, 28),
        (23, 30), (25, 30), (27, 30), (29, 30), (34, 28), (34, 30), (35, 30), (38, 30), (40, 30), (43, 30),
        (45, 30), (48, 30), (51, 30), (53, 30), (56, 30), (59, 30), (62, 30), (65, 30), (68, 30),
    ]

    fileprivate static let high: [Row] = [
        (1, 17), (1, 28), (2, 22), (4, 16), (4, 22), (4, 28), (5, 26), (6, 26), (8, 24), (8, 28), (11, 24),
        (11, 28), (16, 22), (16, 24), (18, 24), (16, 30), (19, 28), (21, 28), (25, 26), (25, 28), (25, 30),
        (34, 24), (30, 30), (32, 30), (35, 30), (37, 30), (40, 30), (42, 30), (45, 30), (48, 30), (51, 30),
        (54, 30), (57, 30), (60, 30), (63, 30), (66, 30), (70, 30), (74, 30), (77, 30), (81, 30),
    ]
}
