import Attribution
import QRCodes
import Support
import Testing

@Suite("Segments of a QR code's text")
struct QRSegmentationTests {
    private func segments(_ text: String, _ sizes: QRVersionSizes = .small) -> [String] {
        QRSegmentation.segments(of: Array(text.utf8), in: sizes).map {
            "\($0.mode) \(String(decoding: $0.bytes, as: UTF8.self))"
        }
    }

    @Test(
        "change the mode only where it makes the code smaller",
        arguments: [
            ("0123", ["numeric 0123"]),
            ("ABC", ["alphanumeric ABC"]),
            ("abc", ["byte abc"]),
            ("É", ["byte É"]),
            ("a1234b", ["byte a1234b"]),
            ("a1234567890b", ["byte a", "numeric 1234567890", "byte b"]),
            ("aBCDEFb", ["byte aBCDEFb"]),
            (
                "https://a.example/p/20251122001234567",
                ["byte https://a.example/p/", "numeric 20251122001234567"]
            ),
            ("HTTPS://A.EXAMPLE/ABC", ["alphanumeric HTTPS://A.EXAMPLE/ABC"]),
            ("HTTPS://A.EXAMPLE/promo", ["alphanumeric HTTPS://A.EXAMPLE/", "byte promo"]),
            ("AB0123456789012345", ["alphanumeric AB", "numeric 0123456789012345"]),
        ]
    )
    func examples(text: String, expected: [String]) {
        #expect(segments(text) == expected)
    }

    @Test("are cut elsewhere where lengths take more bits")
    func sizes() {
        #expect(segments("a123456b", .small) == ["byte a", "numeric 123456", "byte b"])
        #expect(segments("a123456b", .medium) == ["byte a123456b"])
        #expect(segments("a12345678b", .medium) == ["byte a", "numeric 12345678", "byte b"])
        #expect(segments("a12345678b", .large) == ["byte a12345678b"])
    }

    @Test("are cut where whole bits are saved: a segment's last digits or capitals take no fraction of one")
    func wholeBits() {
        #expect(
            segments("QQQ77777777qqqqqQQQQQ", .small)
                == ["alphanumeric QQQ", "numeric 77777777", "byte qqqqqQQQQQ"]
        )
        #expect(
            segments("77777777777QQQQ7777777", .medium)
                == ["numeric 77777777777", "alphanumeric QQQQ7777777"]
        )
    }

    /// The least of all ways to give each byte a mode.
    private func leastBitCount(_ text: [UInt8], _ sizes: QRVersionSizes) -> Int {
        let modes = QRMode.allCases
        let ways = text.reduce(1) { ways, _ in ways * modes.count }
        var least = Int.max
        way: for way in 0..<ways {
            var rest = way
            var segments: [(mode: QRMode, bytes: Range<Int>)] = []
            for (index, byte) in text.enumerated() {
                let mode = modes[rest % modes.count]
                rest /= modes.count
                guard Self.has(mode, byte) else { continue way }
                if let last = segments.last, last.mode == mode {
                    segments[segments.count - 1].bytes = last.bytes.lowerBound..<index + 1
                } else {
                    segments.append((mode, index..<index + 1))
                }
            }
            let bitCount = segments.reduce(0) {
                $0 + QRSegment(mode: $1.mode, bytes: text[$1.bytes]).bitCount(in: sizes)
            }
            least = min(least, bitCount)
        }
        return least
    }

    private static func has(_ mode: QRMode, _ byte: UInt8) -> Bool {
        switch mode {
        case .numeric: "0123456789".utf8.contains(byte)
        case .alphanumeric: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8.contains(byte)
        case .byte: true
        }
    }

    @Test("take the fewest bits of all ways to cut the text, and hold all of it")
    func optimal() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<60 {
            let sizes = QRVersionSizes.allCases.randomElement(using: &random) ?? .small
            let pieces = ["0", "1", "A", "$", "a", "\u{7f}"]
            let text = Array(random.text(of: pieces, count: 1...7).utf8)
            let segments = QRSegmentation.segments(of: text, in: sizes)
            #expect(segments.flatMap { Array($0.bytes) } == text)
            #expect(
                segments.reduce(0) { $0 + $1.bitCount(in: sizes) } == leastBitCount(text, sizes),
                "\(text)"
            )
        }
    }

    /// Stretches instead of bytes: so many equal bytes that a change of mode pays, where seven bytes are too few.
    @Test("take no more bits than any way to give each stretch of alike characters a mode")
    func stretches() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<40 {
            let sizes = QRVersionSizes.allCases.randomElement(using: &random) ?? .small
            let stretches = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                let byte = ["7", "Q", "q"].randomElement(using: &random) ?? "7"
                return Array(String(repeating: byte, count: Int.random(in: 1...24, using: &random)).utf8)
            }
            let bitCount = QRSegmentation.segments(of: stretches.flatMap(\.self), in: sizes)
                .reduce(0) { $0 + $1.bitCount(in: sizes) }
            var least = Int.max
            way: for way in 0..<243 {
                var rest = way
                var merged: [(mode: QRMode, bytes: [UInt8])] = []
                for stretch in stretches {
                    let mode = QRMode.allCases[rest % 3]
                    rest /= 3
                    guard Self.has(mode, stretch[0]) else { continue way }
                    if merged.last?.mode == mode {
                        merged[merged.count - 1].bytes += stretch
                    } else {
                        merged.append((mode, stretch))
                    }
                }
                least = min(
                    least,
                    merged.reduce(0) {
                        $0 + QRSegment(mode: $1.mode, bytes: $1.bytes[...]).bitCount(in: sizes)
                    }
                )
            }
            #expect(bitCount == least)
        }
    }
}
