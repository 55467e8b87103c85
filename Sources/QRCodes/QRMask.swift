/// One of eight patterns by which the text's modules are turned over, so that none of its own looks like a finder and
/// dark and light are mixed.
///
/// Source: ISO/IEC 18004, table of data mask pattern generation conditions.
struct QRMask {
    /// 0…7.
    let number: Int
    /// What each module is turned by, row by row; all patterns repeat themselves after ``rows`` and ``columns``.
    let pattern: [UInt8]

    static let rows = 12
    static let columns = 6

    static let all = (0..<8).map { QRMask(number: $0) }

    private init(number: Int) {
        self.number = number
        pattern = (0..<Self.rows * Self.columns).map { place in
            Self.selects(row: place / Self.columns, column: place % Self.columns, number: number)
                ? QRGrid.dark : 0
        }
    }

    private static func selects(row: Int, column: Int, number: Int) -> Bool {
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
