/// How hard a masked code is to read; the mask with the least is taken.
///
/// Source: ISO/IEC 18004, section on the evaluation of data masking results.
enum QRPenalty {
    /// Five modules of one colour in a line; each further one adds 1.
    private static let run = 3
    /// Four modules of one colour in a square; squares may overlap.
    private static let square = 3
    /// Something that looks like a finder's cross section with four light modules before or behind it.
    private static let finder = 40
    /// Each whole twentieth by which the share of dark modules is off one half.
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
            var place = row * side
            var above: UInt8 = 0
            for column in 0..<side {
                darkCount += Int(modules[place])
                if row > 0 {
                    // 0 or 4 where the square's modules are alike.
                    let pair = modules[place] + modules[place - side]
                    if column > 0, pair + above == 0 || pair + above == 4 { score += square }
                    above = pair
                }
                place += 1
            }
        }
        // Twentieths of all modules.
        let deviation = abs(darkCount * 2 - side * side) * 10 / (side * side)
        return score + deviation * imbalance
    }

    /// Runs and finders of one row or column, which goes on in light modules on both ends.
    private static func lineScore(_ modules: [UInt8], start: Int, step: Int, count: Int) -> Int {
        /// The last eleven modules, the latest lowest.
        var window = 0
        var score = 0
        var length = 0
        var last: UInt8 = 2
        var place = start
        for _ in 0..<count {
            let module = modules[place]
            place += step
            if module == last {
                length += 1
                if length == 5 { score += run } else if length > 5 { score += 1 }
            } else {
                last = module
                length = 1
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
