import Attribution
import QRCodes
import Support
import Testing

/// The penalty is counted here once more, module by module as the standard's table puts it.
@Suite("Masks of QR codes")
struct QRMaskTests {
    private func penalty(_ code: QRCode) -> Int {
        let side = code.modulesPerSide
        let rows = (0..<side).map { row in (0..<side).map { code.isDark(column: $0, row: row) } }
        let columns = (0..<side).map { column in rows.map { $0[column] } }
        var score = 0
        for line in rows + columns { score += runs(line) + finders(line) }
        for row in 1..<side {
            for column in 1..<side {
                let square = [
                    rows[row][column], rows[row][column - 1], rows[row - 1][column],
                    rows[row - 1][column - 1],
                ]
                if Set(square).count == 1 { score += 3 }
            }
        }
        let dark = Double(rows.joined().count { $0 }) / Double(side * side)
        return score + 10 * Int(abs(dark - 0.5) * 20 + 1e-9)
    }

    /// Five of a colour count 3, each further one 1.
    private func runs(_ line: [Bool]) -> Int {
        var score = 0
        var rest = line[...]
        while let first = rest.first {
            let length = rest.prefix { $0 == first }.count
            if length >= 5 { score += length - 2 }
            rest = rest.dropFirst(length)
        }
        return score
    }

    /// 1:1:3:1:1 with four light modules on either side, which may lie outside, counts 40, for each such side.
    private func finders(_ line: [Bool]) -> Int {
        let light = [Bool](repeating: false, count: 4)
        let padded = light + line + light
        let core = [true, false, true, true, true, false, true]
        return (0...padded.count - 11).reduce(0) { score, start in
            let piece = Array(padded[start..<start + 11])
            return score + (piece == core + light ? 40 : 0) + (piece == light + core ? 40 : 0)
        }
    }

    @Test("are chosen by the standard's penalty: no other mask of the same text has less")
    func best() throws {
        var random = SeededGenerator(seed: 18_004)
        for _ in 0..<12 {
            let text = random.text(of: ["a", "é", "1", "Z", "https://", "//", "0000000000"], count: 1...12)
            let level = QRErrorCorrection.allCases.randomElement(using: &random) ?? .low
            let code = try QRCode(encoding: text, errorCorrection: level)
            let penalties = try (0..<8).map {
                penalty(
                    try QRCode(encoding: text, errorCorrection: level, atLeast: code.version, mask: $0)
                )
            }
            #expect(penalties[code.mask] == penalties.min())
        }
    }

    @Test("differ from each other and leave patterns and text as they are")
    func differ() throws {
        let version = try #require(QRVersion(7))
        let codes = try (0..<8).map {
            try QRCode(encoding: "abc", errorCorrection: .low, atLeast: version, mask: $0)
        }
        #expect(Set(codes.map(\.mask)).count == 8)
        for (mask, code) in codes.enumerated() {
            for other in codes[(mask + 1)...] { #expect(code != other) }
        }
    }

    @Test("are the same for the same text")
    func repeatable() throws {
        let text = "https://links.example/summer25"
        #expect(try QRCode(encoding: text) == QRCode(encoding: text))
    }
}
