import Attribution
import QRCodes
import Testing

@Suite("QR codes")
struct QRCodeTests {
    private func refusal(_ text: String, _ level: QRErrorCorrection = .medium) -> QRCodeError? {
        do {
            _ = try QRCode(encoding: text, errorCorrection: level)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "hold the longest text of their level, and refuse a longer one with what to do",
        arguments: [
            (QRErrorCorrection.low, 7_089, 2_953, 2_952), (.medium, 5_596, 2_331, 2_330),
            (.quartile, 3_993, 1_663, 1_662), (.high, 3_057, 1_273, 1_272),
        ]
    )
    func longest(level: QRErrorCorrection, digits: Int, ascii: Int, any: Int) throws {
        #expect(level.longestText == any)
        for text in [
            String(repeating: "1", count: digits), String(repeating: "a", count: ascii),
            // Two bytes each, and one to fill an odd length.
            String(repeating: "é", count: any / 2) + String(repeating: "a", count: any % 2),
        ] {
            let code = try QRCode(encoding: text, errorCorrection: level, atLeast: .largest, mask: 0)
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

    @Test("are made of a text, and of no empty one")
    func empty() {
        #expect(refusal("") == .emptyText)
        #expect(refusal(" ") == nil)
    }

    @Test("are light outside, where the quiet zone is")
    func outside() throws {
        let code = try QRCode(encoding: "1")
        for (column, row) in [(-1, 0), (0, -1), (21, 0), (0, 21), (Int.max, 0), (Int.min, Int.min)] {
            #expect(!code.isDark(column: column, row: row))
        }
    }

    @Test("leave a logo more room at higher levels, never more than error correction can do without")
    func logo() throws {
        for version in QRVersion.all.prefix(20) {
            let rooms = try QRErrorCorrection.allCases.map {
                try QRCode(encoding: "1", errorCorrection: $0, atLeast: version, mask: 0).logoModules
            }
            #expect(rooms.allSatisfy { $0 % 2 == 1 && $0 * 10 <= version.modulesPerSide * 3 })
            #expect(rooms[3] >= rooms[0])
        }
        // What is printed most: links of 20 to 60 characters.
        for (version, room) in [(3, 5), (4, 7), (5, 9), (6, 11), (7, 11)] {
            let version = try #require(QRVersion(version))
            let code = try QRCode(encoding: "1", errorCorrection: .high, atLeast: version, mask: 0)
            #expect(code.logoModules == room)
        }
    }
}
