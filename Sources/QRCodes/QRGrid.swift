internal import Attribution

/// The modules (squares) of a QR code under construction.
///
/// Source: ISO/IEC 18004, sections on symbol structure, codeword placement, format and version information.
struct QRGrid {
    let version: QRVersion
    let side: Int
    /// The modules, row by row; each is a combination of ``dark`` and ``function``.
    private(set) var modules: [UInt8]

    static let dark: UInt8 = 1
    /// Marks a module of a function pattern, such as a finder (the large square in three corners).
    ///
    /// Such a module contains no text, and is never masked.
    static let function: UInt8 = 2

    /// Creates a grid with all function patterns, without the format and the text.
    init(version: QRVersion) {
        self.version = version
        side = version.modulesPerSide
        modules = Array(repeating: 0, count: side * side)
        for index in 0..<side {
            set(column: index, row: 6, isDark: index % 2 == 0)
            set(column: 6, row: index, isDark: index % 2 == 0)
        }
        for (column, row) in [(3, 3), (side - 4, 3), (3, side - 4)] {
            // This draws a finder with the light separator around it.
            drawRings(column: column, row: row, radius: 4) { $0 != 2 && $0 != 4 }
        }
        let centres = version.alignmentCentres
        for row in centres {
            for column in centres {
                let isInFinder =
                    (row == 6 && (column == 6 || column == side - 7)) || (row == side - 7 && column == 6)
                if !isInFinder { drawRings(column: column, row: row, radius: 2) { $0 != 1 } }
            }
        }
        drawVersion()
        // This reserves the modules of the format, which the caller draws when the mask is known.
        drawFormat(bits: 0)
    }

    private mutating func set(column: Int, row: Int, isDark: Bool) {
        modules[row * side + column] = Self.function | (isDark ? Self.dark : 0)
    }

    /// Draws the part of a square that is inside the grid; `isDark` gets the distance from the square's centre.
    private mutating func drawRings(column: Int, row: Int, radius: Int, isDark: (Int) -> Bool) {
        for y in max(0, row - radius)...min(side - 1, row + radius) {
            for x in max(0, column - radius)...min(side - 1, column + radius) {
                set(column: x, row: y, isDark: isDark(max(abs(x - column), abs(y - row))))
            }
        }
    }

    /// Draws both copies of the version, each with six bits of the number and twelve bits of a BCH code.
    private mutating func drawVersion() {
        guard version.hasVersionInformation else { return }
        let bits = Self.withRemainder(version.number, degree: 12, divisor: 0x1f25)
        for index in 0..<18 {
            let near = index / 3
            let far = side - 11 + index % 3
            set(column: far, row: near, isDark: bits >> index & 1 == 1)
            set(column: near, row: far, isDark: bits >> index & 1 == 1)
        }
    }

    /// Draws the level and the mask in five bits, and ten bits of a BCH code.
    ///
    /// A constant inverts some of the bits, so that they are never all zero.
    mutating func drawFormat(level: QRErrorCorrection, mask: QRMask) {
        let indicator =
            switch level {
            case .low: 0b01
            case .medium: 0b00
            case .quartile: 0b11
            case .high: 0b10
            }
        let bits = Self.withRemainder(indicator << 3 | mask.number, degree: 10, divisor: 0x537)
        drawFormat(bits: bits ^ 0x5412)
    }

    /// Draws both copies of the format, and the module that is always dark.
    private mutating func drawFormat(bits: Int) {
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            // The first copy goes around the finder at the top left and skips the timing lines.
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

    /// Returns `value` followed by `degree` bits: the remainder of its division by `divisor`.
    ///
    /// Bits are the coefficients of polynomials over the field of two elements.
    private static func withRemainder(_ value: Int, degree: Int, divisor: Int) -> Int {
        var remainder = value << degree
        while remainder >> degree != 0 {
            remainder ^= divisor << (Int.bitWidth - 1 - remainder.leadingZeroBitCount - degree)
        }
        return value << degree | remainder
    }

    /// Returns the indexes in ``modules`` of the text's modules, in the order of the text's bits.
    ///
    /// The text fills two columns at a time, from the right to the left, alternately upwards and downwards. It skips
    /// the modules of function patterns.
    func textModules() -> [Int] {
        var indexes: [Int] = []
        indexes.reserveCapacity(version.codewordCount * 8 + 7)
        var isUpward = true
        var right = side - 1
        while right > 0 {
            // The text skips the column of the vertical timing line.
            if right == 6 { right = 5 }
            for step in 0..<side {
                let index = (isUpward ? side - 1 - step : step) * side + right
                for index in [index, index - 1] where modules[index] & Self.function == 0 {
                    indexes.append(index)
                }
            }
            isUpward.toggle()
            right -= 2
        }
        return indexes
    }

    /// Draws the text's bits; up to seven remaining modules stay light.
    mutating func draw(_ codewords: [UInt8], at indexes: [Int]) {
        for (index, codeword) in codewords.enumerated() {
            for bit in 0..<8 where codeword >> UInt8(7 - bit) & 1 == 1 {
                modules[indexes[index * 8 + bit]] = Self.dark
            }
        }
    }

    /// Returns a grid in which the modules of the text that `mask` selects are inverted.
    func masked(by mask: QRMask) -> QRGrid {
        var grid = self
        let pattern = mask.pattern
        var index = 0
        for row in 0..<side {
            let line = row % QRMask.rows * QRMask.columns
            var column = 0
            for _ in 0..<side {
                if modules[index] & Self.function == 0 { grid.modules[index] ^= pattern[line + column] }
                index += 1
                column += 1
                if column == QRMask.columns { column = 0 }
            }
        }
        return grid
    }
}
