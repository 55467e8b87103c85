import Attribution
import QRCodes
import Support
import Testing

@Suite("Codewords of QR codes")
struct ReedSolomonTests {
    /// Multiplication in the field, bit by bit.
    private func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (product, factor) = (UInt8(0), left)
        for bit in 0..<8 {
            if right >> UInt8(bit) & 1 == 1 { product ^= factor }
            factor = factor << 1 ^ (factor & 0x80 == 0 ? 0 : 0x1d)
        }
        return product
    }

    /// The value of the polynomial whose coefficients the codewords are.
    private func value(_ codewords: [UInt8], at point: UInt8) -> UInt8 {
        codewords.reduce(0) { product($0, point) ^ $1 }
    }

    @Test(
        "are the published ones",
        arguments: [
            (
                // The standard's own example, 01234567 in version 1-M.
                "01234567", QRMode.numeric, 16,
                [16, 32, 12, 86, 97, 128, 236, 17, 236, 17, 236, 17, 236, 17, 236, 17],
                [165, 36, 212, 193, 237, 54, 199, 135, 44, 85]
            ),
            (
                // Widely printed in tutorials, version 1-M.
                "HELLO WORLD", .alphanumeric, 16,
                [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17],
                [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
            ),
        ] as [(String, QRMode, Int, [UInt8], [UInt8])]
    )
    func published(text: String, mode: QRMode, capacity: Int, data: [UInt8], correction: [UInt8]) {
        let segments = QRSegmentation.segments(of: Array(text.utf8), in: .small)
        #expect(segments.map(\.mode) == [mode])
        #expect(QRCodewords.data(of: segments, in: .small, capacity: capacity) == data)
        #expect(ReedSolomon(correctionCodewords: correction.count).correction(of: data[...]) == correction)
    }

    @Test("with their correction are divisible by the generator: zero at each of its roots")
    func roots() {
        var random = SeededGenerator(seed: 1)
        for count in [7, 10, 13, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30] {
            let code = ReedSolomon(correctionCodewords: count)
            for length in [1, 9, 68, 123] {
                let data = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                let codewords = data + code.correction(of: data[...])
                #expect(codewords.count == length + count)
                var root: UInt8 = 1
                for _ in 0..<count {
                    #expect(value(codewords, at: root) == 0)
                    root = product(root, 2)
                }
            }
        }
        #expect(
            ReedSolomon(correctionCodewords: 10).correction(of: [0, 0, 0]) == Array(repeating: 0, count: 10)
        )
    }

    @Test("of several blocks are drawn in turn, those of longer blocks before the correction")
    func interleaving() throws {
        // The standard's example of 5-Q: two blocks of 15 data codewords and two of 16.
        let blocks = try #require(QRVersion(5)).blocks(.quartile)
        let data = (0..<62).map { UInt8($0) }
        let codewords = QRCodewords.interleaved(data, in: blocks)
        #expect(codewords.count == 134)
        #expect(codewords.prefix(8) == [0, 15, 30, 46, 1, 16, 31, 47])
        #expect(codewords[56..<62] == [14, 29, 44, 60, 45, 61])
        let code = ReedSolomon(correctionCodewords: 18)
        let corrections = [data[0..<15], data[15..<30], data[30..<46], data[46..<62]].map {
            code.correction(of: $0)
        }
        for (index, codeword) in codewords[62...].enumerated() {
            #expect(codeword == corrections[index % 4][index / 4])
        }
    }

    @Test("end in the terminator's zeros and the two padding codewords in turn, or full")
    func padding() {
        func data(_ text: String, _ capacity: Int) -> [UInt8] {
            let segments = QRSegmentation.segments(of: Array(text.utf8), in: .small)
            return QRCodewords.data(of: segments, in: .small, capacity: capacity)
        }
        // 4 + 8 + 8 bits, the terminator, and so on.
        #expect(data("a", 6) == [0x40, 0x16, 0x10, 0xec, 0x11, 0xec])
        #expect(data("a", 3) == [0x40, 0x16, 0x10])
        // 4 + 10 + 24 bits: two are left for the terminator.
        #expect(data("0000000", 5) == [0x10, 0x1c, 0, 0, 0])
    }
}
