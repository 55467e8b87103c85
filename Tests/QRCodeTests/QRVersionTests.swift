import Attribution
import QRCodes
import Testing

@Suite("QR versions")
struct QRVersionTests {
    @Test("are forty, with the standard's alignment patterns, codewords and blocks at every level")
    func table() throws {
        let rows = try QRTableRow.all()
        #expect(rows.map(\.version) == QRVersion.all)
        for row in rows {
            #expect(row.version.alignmentCentres == row.alignmentCentres, "\(row.testDescription)")
            for (level, expected) in row.levels {
                let blocks = row.version.blocks(level)
                let name: Comment = "\(row.testDescription)-\(level.rawValue)"
                #expect(row.version.codewordCount == expected.codewords, name)
                #expect(blocks.count == expected.blocks, name)
                #expect(blocks.dataCodewordCount == expected.dataCodewords, name)
                #expect(
                    blocks.shortCount * blocks.shortLength + (blocks.count - blocks.shortCount)
                        * (blocks.shortLength + 1) == expected.dataCodewords,
                    name
                )
            }
        }
        for number in [-1, 0, 41, Int.max] { #expect(QRVersion(number) == nil) }
    }

    @Test("hold as many digits, capitals and bytes as the standard says, and not one more")
    func capacities() throws {
        for row in try QRTableRow.all() {
            let sizes = try #require(QRVersionSizes.allCases.first { $0.versions.contains(row.version) })
            for (level, expected) in row.levels {
                let room = row.version.blocks(level).dataCodewordCount * 8
                for (mode, capacity) in expected.capacities {
                    let name: Comment = "\(row.testDescription)-\(level.rawValue) \(mode)"
                    let text = [UInt8](repeating: UInt8(ascii: "0"), count: capacity + 1)
                    let full = QRSegment(mode: mode, bytes: text.dropLast())
                    let overfull = QRSegment(mode: mode, bytes: text[...])
                    #expect(full.bitCount(in: sizes) <= room, name)
                    #expect(overfull.bitCount(in: sizes) > room, name)
                }
            }
        }
    }

    @Test(
        "are as small as the text allows",
        arguments: [
            (1, QRErrorCorrection.high, 1), (7, .high, 1), (8, .high, 2), (17, .low, 1), (18, .low, 2),
            (180, .medium, 9), (181, .medium, 10), (213, .medium, 10), (214, .medium, 11),
        ]
    )
    func smallest(byteCount: Int, level: QRErrorCorrection, version: Int) throws {
        let text = String(repeating: "a", count: byteCount)
        let code = try QRCode(encoding: text, errorCorrection: level)
        #expect(code.version.number == version)
        #expect(code.errorCorrection == level)
        #expect(code.modulesPerSide == 17 + 4 * version)
    }

    @Test("stand in the code, in both copies, where it is too large to tell by its size")
    func versionInformation() throws {
        for row in try QRTableRow.all() {
            guard let expected = row.versionInformation else {
                #expect(row.version.number < 7)
                continue
            }
            let code = try QRCode(encoding: "1", errorCorrection: .low, atLeast: row.version, mask: 0)
            let far = code.modulesPerSide - 11
            var (top, left) = (0, 0)
            for bit in (0..<18).reversed() {
                top = top << 1 | (code.isDark(column: far + bit % 3, row: bit / 3) ? 1 : 0)
                left = left << 1 | (code.isDark(column: bit / 3, row: far + bit % 3) ? 1 : 0)
            }
            #expect(top == expected, "\(row.testDescription)")
            #expect(left == expected, "\(row.testDescription)")
        }
    }
}
