import Attribution
import Foundation
import QRCodes
import Support
import Testing

/// Tests that other programs can read the pictures.
@Suite("QR codes read by other programs", .blocking)
struct QRReadingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ bytes: [UInt8], _ name: String) throws -> String {
        let file = folder.file(name)
        try Data(bytes).write(to: URL(filePath: file))
        return file
    }

    /// Requires that another program reads the text of each picture from its PNG.
    private func expectReadable(_ pictures: [(text: String, picture: QRPicture)]) throws {
        let files = try pictures.enumerated().map { try write($1.picture.png(), "\($0).png") }
        for (text, (expected, picture)) in zip(try QRReader.texts(ofFiles: files), pictures) {
            let code = picture.code
            #expect(
                text == expected,
                "\(code.version.number)-\(code.errorCorrection.rawValue), mask \(code.mask), \(picture.style)"
            )
        }
    }

    @Test("contain their text in every version, at every level, with every mask")
    func versions() throws {
        let pictures = try QRVersion.all.flatMap { version in
            let levels = QRErrorCorrection.allCases
            // All combinations take seconds, so try a selection with every version, level and mask.
            let chosen = isLong ? levels : [levels[(version.number + version.number / 4) % 4]]
            return try chosen.map { level in
                let text = "https://l.example/\(version.number)"
                let code = try QRCode(
                    encoding: version.number == 1 ? "l.ex/1" : text,
                    errorCorrection: level,
                    minimumVersion: version,
                    mask: version.number % 8
                )
                #expect(code.version.number <= max(version.number, 3))
                let style = try QRStyle(errorCorrection: level, pixels: 3 * (code.modulesPerSide + 8))
                return (version.number == 1 ? "l.ex/1" : text, try QRPicture(code, style: style))
            }
        }
        try expectReadable(pictures)
    }

    @Test("contain texts of every kind")
    func texts() throws {
        let texts = [
            "1", "0123456789012345678901234567890123456789", "HTTPS://LINKS.EXAMPLE/SUMMER25",
            "https://links.example/summer25?utm_source=poster&utm_medium=qr&n=20261122001234567",
            "Türkçe ğüşiöç İı", "日本語テキスト", "🎉 ok", "é", "<a href='x'>]]>&amp;", "line\nbreak\ttab",
            String(repeating: "a1B2-", count: 60),
            String(repeating: "https://l.example/?q=%C3%BC&", count: 20),
        ]
        try expectReadable(texts.map { ($0, try QRPicture(of: $0)) })
    }

    @Test("contain their text in accepted colours, sizes and quiet zones, also at the limits")
    func styles() throws {
        let text = "https://links.example/summer25"
        let colors = [
            ("#000", "#fff"), ("#949494", "#fff"), ("#000", "#aaaaaa"), ("#1877f2", "#fff"), ("#00f", "#0f0"),
            ("#f00", "#fff"), ("#c00", "#0ff"), ("#000080", "#ff0"), ("#777", "#eee"),
        ]
        var styles = try colors.map {
            try QRStyle(foreground: QRColor(parsing: $0), background: QRColor(parsing: $1), pixels: 200)
        }
        styles += try [74, 75, 100, 111, 185, 333, 512, 1_024].map { try QRStyle(pixels: $0) }
        styles += try [0, 1, 2, 3, 16].map { try QRStyle(quietZone: $0, pixels: 244) }
        try expectReadable(styles.map { (text, try QRPicture(of: text, style: $0)) })
    }

    @Test("contain their text with the centre free for a logo, and with a logo", arguments: [false, true])
    func logo(isThere: Bool) throws {
        let pictures = try QRVersion.all.prefix(isLong ? 40 : 12).map { version in
            let text = version.number < 3 ? "l.ex/\(version.number)" : "https://l.example/\(version.number)"
            let code = try QRCode(encoding: text, errorCorrection: .high, minimumVersion: version, mask: nil)
            let pixels = 4 * (code.modulesPerSide + 8)
            let style = try QRStyle(errorCorrection: .high, pixels: pixels, hasRoomForLogo: true)
            return (text, try QRPicture(code, style: style))
        }
        guard isThere else { return try expectReadable(pictures) }
        // Draw a disc with a margin, as a designer would place a logo.
        let files = try pictures.enumerated().map { index, pair in
            let (centre, room) = (Double(pair.1.code.modulesPerSide + 8) / 2, Double(pair.1.code.logoModules))
            let disc = "<circle cx='\(centre)' cy='\(centre)' r='\(room * 0.4)' fill='#e1306c'/></svg>"
            let svg = pair.1.svg().replacingOccurrences(of: "</svg>", with: disc)
            return try QRReader.drawn(write(Array(svg.utf8), "\(index).svg"))
        }
        #expect(try QRReader.texts(ofFiles: files) == pictures.map(\.0))
    }

    @Test("contain their text when drawn from the SVG, with any title")
    func svg() throws {
        let texts = [
            "https://links.example/1", "HTTPS://LINKS.EXAMPLE/2", String(repeating: "long ", count: 80),
        ]
        let titles = ["QR code", "<\"'>&]]>\u{0}\u{7f}\u{fffe}", "Yaz ğüş 🎉"]
        let files = try zip(texts, titles).enumerated().map { index, pair in
            let style = try QRStyle(foreground: QRColor(parsing: "#123"), pixels: 400)
            let svg = try QRPicture(of: pair.0, style: style).svg(title: pair.1)
            return try QRReader.drawn(write(Array(svg.utf8), "\(index).svg"))
        }
        #expect(try QRReader.texts(ofFiles: files) == texts)
    }

    /// A program that verifies structure and checksums, and prints size, colours and pixels.
    private static let pngReader = """
        import struct, sys, zlib
        data = open(sys.argv[1], 'rb').read()
        assert data[:8] == b'\\x89PNG\\r\\n\\x1a\\n'
        offset, chunks = 8, []
        while offset < len(data):
            length, = struct.unpack('>I', data[offset:offset + 4])
            name, body = data[offset + 4:offset + 8], data[offset + 8:offset + 8 + length]
            assert data[offset + 8 + length:offset + 12 + length] == struct.pack('>I', zlib.crc32(name + body))
            chunks.append((name, body))
            offset += 12 + length
        assert [name for name, body in chunks] == [b'IHDR', b'PLTE', b'IDAT', b'IEND']
        width, height, *rest = struct.unpack('>IIBBBBB', chunks[0][1])
        assert rest == [1, 3, 0, 0, 0]
        inflater = zlib.decompressobj()
        rows = inflater.decompress(chunks[2][1]) + inflater.flush()
        assert inflater.eof and not inflater.unused_data
        stride = 1 + (width + 7) // 8
        assert len(rows) == stride * height
        print(width, height, chunks[1][1].hex())
        for start in range(0, len(rows), stride):
            assert rows[start] == 0
            print(''.join(f'{byte:08b}' for byte in rows[start + 1:start + stride])[:width])
        """

    @Test(
        "are PNGs of which another program reads every pixel",
        // With the last two sizes, one or two bytes of the repeated rows remain, too few for a match in DEFLATE.
        arguments: [(74, 4), (75, 4), (127, 4), (128, 0), (200, 16), (611, 2), (281, 2), (145, 5)]
    )
    func pixels(pixels: Int, quietZone: Int) throws {
        let style = try QRStyle(
            foreground: QRColor(parsing: "#010203"),
            background: QRColor(parsing: "#fffefd"),
            quietZone: quietZone,
            pixels: pixels
        )
        let picture = try QRPicture(of: "https://links.example/summer25", style: style)
        let file = try write(picture.png(), "try.png")
        let output = String(
            decoding: try ExternalProgram.run("python3", ["-c", Self.pngReader, file]),
            as: UTF8.self
        )
        let lines = output.split(separator: "\n")
        #expect(lines.first == "\(pixels) \(pixels) fffefd010203")
        let side = picture.code.modulesPerSide + 2 * quietZone
        let modulePixels = pixels / side
        let start = (pixels - side * modulePixels) / 2 + quietZone * modulePixels
        let code = picture.code
        for (y, line) in lines.dropFirst().enumerated() {
            let expected = (0..<pixels).map { x in
                let isLeftOrAbove = x < start || y < start
                let (column, row) = ((x - start) / modulePixels, (y - start) / modulePixels)
                return !isLeftOrAbove && code.isDark(column: column, row: row) ? "1" : "0"
            }
            #expect(line == expected.joined(), "row \(y)")
        }
        #expect(lines.count == pixels + 1)
    }
}
