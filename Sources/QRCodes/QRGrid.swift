/// The modules of a code under construction.
///
/// Source: ISO/IEC 18004, sections on symbol structure and on codeword placement.
struct QRGrid {
    let version: QRVersion
    let side: Int
    /// Row by row: ``dark`` and ``function``, or neither.
    private(set) var modules: [UInt8]

    static let dark: UInt8 = 1
    /// Part of a pattern, not of the text: never masked.
    static let function: UInt8 = 2

    /// With everything but format and text.
    init(version: QRVersion) {
        self.version = version
        side = version.modulesPerSide
        modules = Array(repeating: 0, count: side * side)
        drawTiming()
        for (column, row) in [(3, 3), (side - 4, 3), (3, side - 4)] {
            drawFinder(column: column, row: row)
        }
        drawAlignment()
        drawVersion()
        // Keeps its modules free until the mask is known.
        drawFormat(0)
    }

    mutating func set(column: Int, row: Int, isDark: Bool) {
        modules[row * side + column] = Self.function | (isDark ? Self.dark : 0)
    }

    /// The modules of the text, as places in ``modules``, in the order in which its bits are drawn: two columns at a
    /// time from the right, up and down by turns, jumping over what is not free.
    func textModules() -> [Int] {
        var places: [Int] = []
        places.reserveCapacity(version.codewordCount * 8 + 7)
        var isUpward = true
        var right = side - 1
        while right > 0 {
            // The vertical timing line belongs to no pair.
            if right == 6 { right = 5 }
            for step in 0..<side {
                let row = isUpward ? side - 1 - step : step
                for place in [row * side + right, row * side + right - 1]
                where modules[place] & Self.function == 0 { places.append(place) }
            }
            isUpward.toggle()
            right -= 2
        }
        return places
    }

    /// Draws the text's bits; the few modules that are left over stay light.
    mutating func draw(_ codewords: [UInt8], at places: [Int]) {
        for (index, codeword) in codewords.enumerated() {
            for bit in 0..<8 where codeword >> UInt8(7 - bit) & 1 == 1 {
                modules[places[index * 8 + bit]] = Self.dark
            }
        }
    }

    private mutating func drawTiming() {
        for index in 0..<side {
            set(column: index, row: 6, isDark: index % 2 == 0)
            set(column: 6, row: index, isDark: index % 2 == 0)
        }
    }

    /// With the light separator around it.
    private mutating func drawFinder(column: Int, row: Int) {
        for y in max(0, row - 4)...min(side - 1, row + 4) {
            for x in max(0, column - 4)...min(side - 1, column + 4) {
                let ring = max(abs(x - column), abs(y - row))
                set(column: x, row: y, isDark: ring != 2 && ring != 4)
            }
        }
    }

    private mutating func drawAlignment() {
        let centres = version.alignmentCentres
        guard let first = centres.first, let last = centres.last else { return }
        for row in centres {
            for column in centres {
                let isInFinder =
                    (row == first && (column == first || column == last)) || (row == last && column == first)
                guard !isInFinder else { continue }
                for y in row - 2...row + 2 {
                    for x in column - 2...column + 2 {
                        let ring = max(abs(x - column), abs(y - row))
                        set(column: x, row: y, isDark: ring != 1)
                    }
                }
            }
        }
    }

    /// Both copies of the version.
    private mutating func drawVersion() {
        guard version.hasVersionInformation else { return }
        let bits = QRInformation.version(version.number)
        for index in 0..<18 {
            let near = index / 3
            let far = side - 11 + index % 3
            set(column: far, row: near, isDark: bits >> index & 1 == 1)
            set(column: near, row: far, isDark: bits >> index & 1 == 1)
        }
    }

    /// Both copies of the level and the mask, and the module that is always dark.
    mutating func drawFormat(_ bits: Int) {
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            // The first copy goes around the finder at the top left, past the timing lines.
            switch index {
            case 0...5: set(column: 8, row: index, isDark: isDark)
            case 6, 7: set(column: 8, row: index + 1, isDark: isDark)
            case 8: set(column: 7, row: 8, isDark: isDark)
            default: set(column: 14 - index, row: 8, isDark: isDark)
            }
            if index < 8 {
                set(column: side - 1 - index, row: 8, isDark: isDark)
            } else {
                set(column: 8, row: side - 15 + index, isDark: isDark)
            }
        }
        set(column: 8, row: side - 8, isDark: true)
    }

    /// Turns over the text's modules that a mask selects.
    func masked(by mask: QRMask) -> QRGrid {
        var grid = self
        let pattern = mask.pattern
        var place = 0
        for row in 0..<side {
            let line = row % QRMask.rows * QRMask.columns
            var column = 0
            for _ in 0..<side {
                if modules[place] & Self.function == 0 { grid.modules[place] ^= pattern[line + column] }
                place += 1
                column += 1
                if column == QRMask.columns { column = 0 }
            }
        }
        return grid
    }
}
