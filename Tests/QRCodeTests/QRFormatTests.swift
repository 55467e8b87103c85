import Attribution
import QRCodes
import Testing

@Suite("Formats of QR codes")
struct QRFormatTests {
    /// The standard's table of format information, by level and mask.
    private static let sequences: [QRErrorCorrection: [Int]] = [
        .low: [
            0b111011111000100, 0b111001011110011, 0b111110110101010, 0b111100010011101,
            0b110011000101111, 0b110001100011000, 0b110110001000001, 0b110100101110110,
        ],
        .medium: [
            0b101010000010010, 0b101000100100101, 0b101111001111100, 0b101101101001011,
            0b100010111111001, 0b100000011001110, 0b100111110010111, 0b100101010100000,
        ],
        .quartile: [
            0b011010101011111, 0b011000001101000, 0b011111100110001, 0b011101000000110,
            0b010010010110100, 0b010000110000011, 0b010111011011010, 0b010101111101101,
        ],
        .high: [
            0b001011010001001, 0b001001110111110, 0b001110011100111, 0b001100111010000,
            0b000011101100010, 0b000001001010101, 0b000110100001100, 0b000100000111011,
        ],
    ]

    /// Where the fifteen bits stand, the highest first: around the finder at the top left.
    private static let near = [
        (0, 8), (1, 8), (2, 8), (3, 8), (4, 8), (5, 8), (7, 8), (8, 8), (8, 7), (8, 5), (8, 4), (8, 3),
        (8, 2), (8, 1), (8, 0),
    ]

    /// The same beside the two other finders; counted from the far edge where negative.
    private static let far = [
        (8, -1), (8, -2), (8, -3), (8, -4), (8, -5), (8, -6), (8, -7), (-8, 8), (-7, 8), (-6, 8), (-5, 8),
        (-4, 8), (-3, 8), (-2, 8), (-1, 8),
    ]

    private func bits(of code: QRCode, at places: [(Int, Int)]) -> Int {
        let side = code.modulesPerSide
        return places.reduce(0) { bits, place in
            let column = place.0 < 0 ? side + place.0 : place.0
            let row = place.1 < 0 ? side + place.1 : place.1
            return bits << 1 | (code.isDark(column: column, row: row) ? 1 : 0)
        }
    }

    @Test("are the standard's for every level and mask, in both copies", arguments: [1, 8])
    func format(version: Int) throws {
        let version = try #require(QRVersion(version))
        for (level, sequences) in Self.sequences {
            for (mask, sequence) in sequences.enumerated() {
                let code = try QRCode(encoding: "abc", errorCorrection: level, atLeast: version, mask: mask)
                #expect(code.mask == mask)
                #expect(bits(of: code, at: Self.near) == sequence, "\(level.rawValue), mask \(mask)")
                #expect(bits(of: code, at: Self.far) == sequence, "\(level.rawValue), mask \(mask)")
                #expect(code.isDark(column: 8, row: code.modulesPerSide - 8))
            }
        }
    }

    @Test("stand beside finders, separators and timing lines that are the same in every code")
    func patterns() throws {
        let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        for version in [1, 2, 7, 40] {
            let version = try #require(QRVersion(version))
            let code = try QRCode(encoding: "abc", errorCorrection: .low, atLeast: version, mask: 3)
            let last = code.modulesPerSide - 7
            for (left, top) in [(0, 0), (last, 0), (0, last)] {
                for row in -1...7 {
                    for column in -1...7 {
                        let isInside = (0..<7).contains(row) && (0..<7).contains(column)
                        let expected = isInside && Array(finder[row])[column] == "1"
                        #expect(code.isDark(column: left + column, row: top + row) == expected)
                    }
                }
            }
            for index in 8..<code.modulesPerSide - 8 {
                #expect(code.isDark(column: index, row: 6) == (index % 2 == 0))
                #expect(code.isDark(column: 6, row: index) == (index % 2 == 0))
            }
        }
    }
}
