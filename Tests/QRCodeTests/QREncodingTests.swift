import Attribution
import QRCodes
import Support
import Testing

@Suite("Segments of a QR code's text")
struct QRSegmentationTests {
    @Test(
        "change the mode only if that makes the code smaller",
        arguments: [
            ("0123", .small, ["numeric 0123"]), ("ABC", .small, ["alphanumeric ABC"]),
            ("abc", .small, ["byte abc"]),
            ("É", .small, ["byte É"]), ("a1234b", .small, ["byte a1234b"]),
            ("a1234567890b", .small, ["byte a", "numeric 1234567890", "byte b"]),
            ("aBCDEFb", .small, ["byte aBCDEFb"]),
            (
                "https://a.example/p/20251122001234567", .small,
                ["byte https://a.example/p/", "numeric 20251122001234567"]
            ),
            ("HTTPS://A.EXAMPLE/ABC", .small, ["alphanumeric HTTPS://A.EXAMPLE/ABC"]),
            ("HTTPS://A.EXAMPLE/promo", .small, ["alphanumeric HTTPS://A.EXAMPLE/", "byte promo"]),
            ("AB0123456789012345", .small, ["alphanumeric AB", "numeric 0123456789012345"]),
            // In larger versions, the length of a segment takes more bits.
            ("a123456b", .small, ["byte a", "numeric 123456", "byte b"]),
            ("a123456b", .medium, ["byte a123456b"]),
            ("a12345678b", .medium, ["byte a", "numeric 12345678", "byte b"]),
            ("a12345678b", .large, ["byte a12345678b"]),
            // An incomplete last group of digits or capitals takes more bits for each character.
            ("QQQ77777777qqqqqQQQQQ", .small, ["alphanumeric QQQ", "numeric 77777777", "byte qqqqqQQQQQ"]),
            ("77777777777QQQQ7777777", .medium, ["numeric 77777777777", "alphanumeric QQQQ7777777"]),
        ] as [(String, QRVersionSizes, [String])]
    )
    func examples(text: String, sizes: QRVersionSizes, expected: [String]) {
        let segments = QRSegmentation.segments(of: Array(text.utf8), in: sizes).map {
            "\($0.mode) \(String(decoding: $0.bytes, as: UTF8.self))"
        }
        #expect(segments == expected)
    }

    /// Returns the smallest number of bits over all choices of a mode for each piece; the bytes of a piece are equal.
    private func minimumBitCount(_ pieces: [[UInt8]], _ sizes: QRVersionSizes) -> Int {
        let modes = QRMode.allCases
        let ways = pieces.reduce(1) { ways, _ in ways * modes.count }
        var minimum = Int.max
        way: for way in 0..<ways {
            var digits = way
            var segments: [(mode: QRMode, bytes: [UInt8])] = []
            for piece in pieces {
                let mode = modes[digits % modes.count]
                digits /= modes.count
                guard Self.contains(mode, piece[0]) else { continue way }
                if segments.last?.mode == mode {
                    segments[segments.count - 1].bytes += piece
                } else {
                    segments.append((mode, piece))
                }
            }
            let bitCount = segments.reduce(0) {
                $0 + QRSegment(mode: $1.mode, bytes: $1.bytes[...]).bitCount(in: sizes)
            }
            minimum = min(minimum, bitCount)
        }
        return minimum
    }

    private static func contains(_ mode: QRMode, _ byte: UInt8) -> Bool {
        switch mode {
        case .numeric: "0123456789".utf8.contains(byte)
        case .alphanumeric: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8.contains(byte)
        case .byte: true
        }
    }

    // The test cannot try all modes for each byte. It tries them for pieces, because only a piece of several bytes is worth
    // a change of mode.
    @Test(
        "contain the whole text in the smallest number of bits",
        arguments: [(2, 60, 7, 1), (3, 40, 5, 24)]
    )
    func optimal(seed: UInt64, rounds: Int, maximumPieces: Int, maximumLength: Int) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<rounds {
            let sizes = QRVersionSizes.allCases.randomElement(using: &random) ?? .small
            let pieces = (0..<Int.random(in: 1...maximumPieces, using: &random)).map { _ in
                let byte = Array("0A$a\u{7f}7Qq".utf8).randomElement(using: &random) ?? 0
                return [UInt8](repeating: byte, count: Int.random(in: 1...maximumLength, using: &random))
            }
            let segments = QRSegmentation.segments(of: pieces.flatMap(\.self), in: sizes)
            #expect(segments.flatMap { Array($0.bytes) } == pieces.flatMap(\.self))
            #expect(
                segments.reduce(0) { $0 + $1.bitCount(in: sizes) } == minimumBitCount(pieces, sizes),
                "\(pieces)"
            )
        }
    }
}

@Suite("Codewords of QR codes")
struct QRCodewordTests {
    private func data(_ text: String, capacity: Int) -> [UInt8] {
        let segments = QRSegmentation.segments(of: Array(text.utf8), in: .small)
        return QRCodewords.data(of: segments, in: .small, capacity: capacity)
    }

    @Test(
        "are the published codewords, with padding and error correction",
        arguments: [
            // The example of the standard, and an example of many tutorials, both in version 1-M.
            (
                "01234567", [16, 32, 12, 86, 97, 128, 236, 17, 236, 17, 236, 17, 236, 17, 236, 17],
                [165, 36, 212, 193, 237, 54, 199, 135, 44, 85]
            ),
            (
                "HELLO WORLD", [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17],
                [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]
            ),
            // 20 bits and the terminator; the same without padding; 38 bits and two bits of the terminator.
            ("a", [0x40, 0x16, 0x10, 0xec, 0x11, 0xec], []), ("a", [0x40, 0x16, 0x10], []),
            ("0000000", [0x10, 0x1c, 0, 0, 0], []),
        ] as [(String, [UInt8], [UInt8])]
    )
    func published(text: String, expected: [UInt8], correction: [UInt8]) {
        #expect(data(text, capacity: expected.count) == expected)
        guard !correction.isEmpty else { return }
        #expect(
            ReedSolomon(correctionCodewords: correction.count).correction(of: expected[...]) == correction
        )
    }

    /// Returns the product in the field of 256 elements, computed bit by bit.
    private func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (product, factor) = (UInt8(0), left)
        for bit in 0..<8 {
            if right >> UInt8(bit) & 1 == 1 { product ^= factor }
            factor = factor << 1 ^ (factor & 0x80 == 0 ? 0 : 0x1d)
        }
        return product
    }

    @Test("are divisible by the generator: the polynomial is zero at each root")
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
                    #expect(codewords.reduce(0) { product($0, root) ^ $1 } == 0)
                    root = product(root, 2)
                }
            }
        }
        #expect(
            ReedSolomon(correctionCodewords: 10).correction(of: [0, 0, 0]) == Array(repeating: 0, count: 10)
        )
    }

    @Test("alternate between the blocks, and the last data codewords come from the longer blocks")
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
}

/// These tests compute the penalty again, module by module, as the standard's table defines it.
@Suite("Masks of QR codes")
struct QRMaskTests {
    private func penalty(_ code: QRCode) -> Int {
        let side = code.modulesPerSide
        let rows = (0..<side).map { row in (0..<side).map { code.isDark(column: $0, row: row) } }
        let columns = (0..<side).map { column in rows.map { $0[column] } }
        var score = (rows + columns).reduce(0) { $0 + runs($1) + finders($1) }
        for row in 1..<side {
            for column in 1..<side {
                let square = rows[row - 1...row].flatMap { $0[column - 1...column] }
                if Set(square).count == 1 { score += 3 }
            }
        }
        let dark = Double(rows.joined().count { $0 }) / Double(side * side)
        return score + 10 * Int(abs(dark - 0.5) * 20 + 1e-9)
    }

    /// Returns 3 for five modules of one colour, and 1 for each further module.
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

    /// Returns 40 for each 1:1:3:1:1 with four light modules before it, and 40 with four light modules after it.
    ///
    /// The light modules may be outside the code.
    private func finders(_ line: [Bool]) -> Int {
        let light = [Bool](repeating: false, count: 4)
        let padded = light + line + light
        let core = [true, false, true, true, true, false, true]
        return (0...padded.count - 11).reduce(0) { score, start in
            let piece = Array(padded[start..<start + 11])
            return score + (piece == core + light ? 40 : 0) + (piece == light + core ? 40 : 0)
        }
    }

    @Test("are eight, all different; a code always has a mask with the lowest penalty")
    func best() throws {
        var random = SeededGenerator(seed: 18_004)
        for _ in 0..<12 {
            let text = random.text(of: ["a", "é", "1", "Z", "https://", "//", "0000000000"], count: 1...12)
            let level = QRErrorCorrection.allCases.randomElement(using: &random) ?? .low
            let code = try QRCode(encoding: text, errorCorrection: level)
            #expect(try QRCode(encoding: text, errorCorrection: level) == code)
            let codes = try (0..<8).map {
                try QRCode(encoding: text, errorCorrection: level, minimumVersion: code.version, mask: $0)
            }
            #expect(codes.map(\.mask) == Array(0..<8))
            for (mask, other) in codes.enumerated() { #expect(!codes[..<mask].contains(other)) }
            #expect(codes[code.mask] == code)
            let penalties = codes.map(penalty)
            #expect(penalties[code.mask] == penalties.min())
        }
    }
}
