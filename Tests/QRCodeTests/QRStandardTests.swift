import Attribution
import Foundation
import QRCodes
import Testing

/// One row of `Vectors/qr-versions.tsv`: the standard's values for one version.
private struct StandardVersion {
    struct Level {
        let codewords: Int
        let dataCodewords: Int
        let blocks: Int
        /// The maximum number of characters by mode.
        let capacities: [QRMode: Int]
    }

    let version: QRVersion
    let alignmentCentres: [Int]
    /// The version information; nil for versions that decoders derive from the size.
    let versionInformation: Int?
    let levels: [QRErrorCorrection: Level]

    static func all() throws -> [StandardVersion] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Vectors/qr-versions.tsv"
        )
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { try StandardVersion(columns: $0.split(separator: "\t")) }
    }

    private init(columns: [Substring]) throws {
        version = try #require(Int(columns[0]).flatMap { QRVersion($0) })
        alignmentCentres = columns[1].split(separator: " ").compactMap { Int($0) }
        versionInformation = Int(columns[2], radix: 16)
        let levels = try columns[3...].map { column in
            let numbers = column.split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 6)
            return Level(
                codewords: numbers[0],
                dataCodewords: numbers[1],
                blocks: numbers[2],
                capacities: [.numeric: numbers[3], .alphanumeric: numbers[4], .byte: numbers[5]]
            )
        }
        self.levels = Dictionary(uniqueKeysWithValues: zip(QRErrorCorrection.allCases, levels))
    }
}

@Suite("QR codes against the standard's tables")
struct QRStandardTests {
    @Test("all forty versions have the alignment patterns, codewords, blocks and capacities of the table")
    func versions() throws {
        let rows = try StandardVersion.all()
        #expect(rows.map(\.version) == QRVersion.all)
        for row in rows {
            #expect(row.version.alignmentCentres == row.alignmentCentres, "version \(row.version.number)")
            let sizes = try #require(QRVersionSizes.allCases.first { $0.versions.contains(row.version) })
            for (level, expected) in row.levels {
                let blocks = row.version.blocks(level)
                let name: Comment = "\(row.version.number)-\(level.rawValue)"
                #expect(row.version.codewordCount == expected.codewords, name)
                #expect(blocks.count == expected.blocks, name)
                #expect(blocks.dataCodewordCount == expected.dataCodewords, name)
                let longBlocks = (blocks.count - blocks.shortCount) * (blocks.shortLength + 1)
                #expect(blocks.shortCount * blocks.shortLength + longBlocks == expected.dataCodewords, name)
                for (mode, capacity) in expected.capacities {
                    let text = [UInt8](repeating: UInt8(ascii: "0"), count: capacity + 1)
                    let full = QRSegment(mode: mode, bytes: text.dropLast())
                    let overfull = QRSegment(mode: mode, bytes: text[...])
                    #expect(full.bitCount(in: sizes) <= expected.dataCodewords * 8, name)
                    #expect(overfull.bitCount(in: sizes) > expected.dataCodewords * 8, name)
                }
            }
        }
        for number in [-1, 0, 41, Int.max] { #expect(QRVersion(number) == nil) }
    }

    /// Returns the modules at `offsets` as bits, the highest first; negative offsets count from the right or bottom edge.
    private func bits(of code: QRCode, at offsets: [(column: Int, row: Int)]) -> Int {
        let side = code.modulesPerSide
        return offsets.reduce(0) { bits, offset in
            let column = offset.column < 0 ? side + offset.column : offset.column
            let row = offset.row < 0 ? side + offset.row : offset.row
            return bits << 1 | (code.isDark(column: column, row: row) ? 1 : 0)
        }
    }

    @Test("versions from 7 on contain both copies of their number")
    func versionInformation() throws {
        let top = (0..<18).reversed().map { (column: -11 + $0 % 3, row: $0 / 3) }
        for row in try StandardVersion.all() {
            guard let expected = row.versionInformation else {
                #expect(row.version.number < 7)
                continue
            }
            let code = try QRCode(encoding: "1", errorCorrection: .low, minimumVersion: row.version, mask: 0)
            #expect(bits(of: code, at: top) == expected, "version \(row.version.number)")
            #expect(
                bits(of: code, at: top.map { (column: $0.row, row: $0.column) }) == expected,
                "version \(row.version.number)"
            )
        }
    }

    /// The standard's table of format information, by level and mask.
    private static let formats: [QRErrorCorrection: [Int]] = [
        .low: [0x77c4, 0x72f3, 0x7daa, 0x789d, 0x662f, 0x6318, 0x6c41, 0x6976],
        .medium: [0x5412, 0x5125, 0x5e7c, 0x5b4b, 0x45f9, 0x40ce, 0x4f97, 0x4aa0],
        .quartile: [0x355f, 0x3068, 0x3f31, 0x3a06, 0x24b4, 0x2183, 0x2eda, 0x2bed],
        .high: [0x1689, 0x13be, 0x1ce7, 0x19d0, 0x0762, 0x0255, 0x0d0c, 0x083b],
    ]

    @Test(
        "both copies of the format information equal the table's value for every level and mask",
        arguments: [1, 8]
    )
    func format(version: Int) throws {
        let version = try #require(QRVersion(version))
        // One copy is around the finder at the top left, the other one beside the two other finders.
        let near =
            [0, 1, 2, 3, 4, 5, 7, 8].map { (column: $0, row: 8) }
            + [7, 5, 4, 3, 2, 1, 0].map { (column: 8, row: $0) }
        let far = (1...7).map { (column: 8, row: -$0) } + (1...8).reversed().map { (column: -$0, row: 8) }
        for (level, formats) in Self.formats {
            for (mask, format) in formats.enumerated() {
                let code = try QRCode(
                    encoding: "a",
                    errorCorrection: level,
                    minimumVersion: version,
                    mask: mask
                )
                #expect(code.mask == mask)
                #expect(bits(of: code, at: near) == format, "\(level.rawValue), mask \(mask)")
                #expect(bits(of: code, at: far) == format, "\(level.rawValue), mask \(mask)")
                #expect(code.isDark(column: 8, row: code.modulesPerSide - 8))
            }
        }
    }

    @Test("finders, separators and timing lines are the same in every code")
    func patterns() throws {
        let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        for version in [1, 2, 7, 40] {
            let version = try #require(QRVersion(version))
            let code = try QRCode(encoding: "abc", errorCorrection: .low, minimumVersion: version, mask: 3)
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

    private func refusal(_ text: String, _ level: QRErrorCorrection = .medium) -> QRCodeError? {
        do {
            _ = try QRCode(encoding: text, errorCorrection: level)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "the longest text of each level fits, and a longer one is refused with advice",
        arguments: [
            (QRErrorCorrection.low, 7_089, 2_953, 2_952), (.medium, 5_596, 2_331, 2_330),
            (.quartile, 3_993, 1_663, 1_662), (.high, 3_057, 1_273, 1_272),
        ]
    )
    func longest(level: QRErrorCorrection, digits: Int, ascii: Int, any: Int) throws {
        #expect(level.maximumTextLength == any)
        for text in [
            String(repeating: "1", count: digits), String(repeating: "a", count: ascii),
            // Characters of two bytes, and one byte more for an odd length.
            String(repeating: "é", count: any / 2) + String(repeating: "a", count: any % 2),
        ] {
            let code = try QRCode(encoding: text, errorCorrection: level, minimumVersion: .largest, mask: 0)
            #expect(code.version == .largest)
            let longer = text + (text.hasPrefix("1") ? "1" : "a")
            let byteCount = longer.utf8.count
            let error = try #require(refusal(longer, level))
            #expect(error == .textTooLong(byteCount: byteCount, level: level))
            #expect(error.message.contains("\(byteCount) bytes"))
            #expect(error.message.contains("level \(level.rawValue) holds \(any)"))
            #expect(error.message.contains("lower") == (level != .low))
        }
        #expect(refusal(String(repeating: "1", count: 1_000_000), level) != nil)
    }

    @Test(
        "the code is as small as the text allows",
        arguments: [
            (1, QRErrorCorrection.high, 1), (7, .high, 1), (8, .high, 2), (17, .low, 1), (18, .low, 2),
            (180, .medium, 9), (181, .medium, 10), (213, .medium, 10), (214, .medium, 11),
        ]
    )
    func smallest(byteCount: Int, level: QRErrorCorrection, version: Int) throws {
        let code = try QRCode(encoding: String(repeating: "a", count: byteCount), errorCorrection: level)
        #expect(code.version.number == version)
        #expect(code.errorCorrection == level)
        #expect(code.modulesPerSide == 17 + 4 * version)
    }

    @Test("an empty text is refused, and the quiet zone around a code is light")
    func edges() throws {
        #expect(refusal("") == .emptyText)
        #expect(refusal(" ") == nil)
        let code = try QRCode(encoding: "1")
        for (column, row) in [(-1, 0), (0, -1), (21, 0), (0, 21), (Int.max, 0), (Int.min, Int.min)] {
            #expect(!code.isDark(column: column, row: row))
        }
    }

    @Test("a logo gets at most 30 % of the side, and at level H at least as much room as at level L")
    func logo() throws {
        for version in QRVersion.all.prefix(20) {
            let rooms = try QRErrorCorrection.allCases.map {
                try QRCode(encoding: "1", errorCorrection: $0, minimumVersion: version, mask: 0).logoModules
            }
            #expect(rooms.allSatisfy { $0 % 2 == 1 && $0 * 10 <= version.modulesPerSide * 3 })
            #expect(rooms[3] >= rooms[0])
        }
        // The most common versions, for links of 20 to 60 characters.
        for (version, room) in [(3, 5), (4, 7), (5, 9), (6, 11), (7, 11)] {
            let version = try #require(QRVersion(version))
            let code = try QRCode(encoding: "1", errorCorrection: .high, minimumVersion: version, mask: 0)
            #expect(code.logoModules == room)
        }
    }
}
