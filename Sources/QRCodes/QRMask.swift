/// One of the eight patterns that invert modules outside the function patterns.
///
/// A good mask mixes dark and light modules, and leaves no part that looks like a finder (the large square in three
/// corners). Source: ISO/IEC 18004, table of data mask pattern generation conditions.
struct QRMask {
    /// The number of the mask in the standard, 0…7.
    let number: Int
    /// The modules, row by row, with 1 for an inverted module; a mask repeats after ``rows`` rows and ``columns``
    /// columns.
    let pattern: [UInt8]

    static let rows = 12
    static let columns = 6

    static let all = (0..<8).map { QRMask(number: $0) }

    private init(number: Int) {
        self.number = number
        pattern = (0..<Self.rows * Self.columns).map { index in
            Self.inverts(row: index / Self.columns, column: index % Self.columns, number: number)
                ? QRGrid.dark : 0
        }
    }

    private static func inverts(row: Int, column: Int, number: Int) -> Bool {
        switch number {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }
}

/// A score for how hard a masked code is to read; a code uses the mask with the lowest score.
///
/// Source: ISO/IEC 18004, section on the evaluation of data masking results.
enum QRPenalty {
    /// The penalty for five modules of one colour in a line; each further module adds 1.
    private static let run = 3
    /// The penalty for four modules of one colour in a square; squares may overlap.
    private static let square = 3
    /// The penalty for a finder's cross section with four light modules before or after it.
    private static let finder = 40
    /// The penalty for each whole twentieth by which the share of dark modules differs from one half.
    private static let imbalance = 10

    static func score(of grid: QRGrid) -> Int {
        let side = grid.side
        let modules = grid.modules.map { $0 & QRGrid.dark }
        var score = 0
        var darkCount = 0
        for index in 0..<side {
            score += lineScore(modules, start: index * side, step: 1, count: side)
            score += lineScore(modules, start: index, step: side, count: side)
        }
        for row in 0..<side {
            var index = row * side
            var above: UInt8 = 0
            for column in 0..<side {
                darkCount += Int(modules[index])
                if row > 0 {
                    // The sum of two pairs is 0 or 4 where all modules of the square are equal.
                    let pair = modules[index] + modules[index - side]
                    if column > 0, pair + above == 0 || pair + above == 4 { score += square }
                    above = pair
                }
                index += 1
            }
        }
        let twentieths = abs(darkCount * 2 - side * side) * 10 / (side * side)
        return score + twentieths * imbalance
    }

    /// Returns the penalty for the runs and finders of one row or column; modules beyond both ends count as light.
    private static func lineScore(_ modules: [UInt8], start: Int, step: Int, count: Int) -> Int {
        // The last eleven modules, the latest in the lowest bit.
        var window = 0
        var score = 0
        var length = 0
        var last: UInt8 = 2
        var index = start
        for _ in 0..<count {
            let module = modules[index]
            index += step
            if module == last {
                length += 1
                if length == 5 { score += run } else if length > 5 { score += 1 }
            } else {
                (last, length) = (module, 1)
            }
            window = (window << 1 | Int(module)) & 0x7ff
            if window == 0b000_0101_1101 || window == 0b101_1101_0000 { score += finder }
        }
        for _ in 0..<4 {
            window = window << 1 & 0x7ff
            if window == 0b101_1101_0000 { score += finder }
        }
        return score
    }
}
