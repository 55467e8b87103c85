import Attribution
import QRCodes
import Testing

@Suite("Pictures of QR codes")
struct QRPictureTests {
    private static let link = "https://links.example/summer25"

    @Test("have at least two pixels for each module; a smaller picture is refused with the required size")
    func minimum() throws {
        // 30 bytes at level M: version 3, 29 modules and the quiet zone on both sides.
        for (quietZone, minimum) in [(4, 74), (16, 122)] {
            let style = try QRStyle(quietZone: quietZone, pixels: minimum)
            #expect(try QRPicture(of: Self.link, style: style).code.version.number == 3)
            #expect(throws: QRCodeError.tooFewPixels(minimum: minimum)) {
                try QRPicture(of: Self.link, style: QRStyle(quietZone: quietZone, pixels: minimum - 1))
            }
        }
        #expect(throws: QRCodeError.emptyText) { try QRPicture(of: "") }
    }

    @Test("as SVG are one path on a background, without references and without text except the title")
    func svg() throws {
        let style = try QRStyle(
            foreground: QRColor(parsing: "#123"),
            background: QRColor(parsing: "#ffe"),
            pixels: 300
        )
        let svg = try QRPicture(of: Self.link, style: style).svg(title: "Summer <25> & \"more\"\u{0}\u{1b}")
        #expect(
            svg.hasPrefix(
                """
                <svg xmlns="http://www.w3.org/2000/svg" width="300" height="300" viewBox="0 0 37 37" \
                shape-rendering="crispEdges" role="img"><title>Summer &lt;25&gt; &amp; "more"  </title>\
                <path fill="#ffffee" d="M0 0h37v37H0z"/><path fill="#112233" d="M4 4h7v7h-7z
                """
            )
        )
        #expect(svg.hasSuffix("z\"/></svg>\n"))
        #expect(svg.matches(of: #/<path /#).count == 2)
        for outside in ["href", "url(", "<script", "<style", "<image", "<!", Self.link] {
            #expect(!svg.contains(outside))
        }
        let long = try QRPicture(of: Self.link).svg(title: String(repeating: "é", count: 10_000))
        let title = try #require(long.firstMatch(of: /<title>(.*)<\/title>/)?.output.1)
        #expect(title == String(repeating: "é", count: QRPicture.maximumTitleLength))
        #expect(try QRPicture(of: Self.link).svg().contains("<title>QR code</title>"))
    }

    /// Returns how often the outlines go around each module, clockwise.
    private func windings(of svg: String, side: Int) throws -> [[Int]] {
        let path = try #require(svg.matches(of: /d="([^"]*)"/).last?.output.1)
        var windings = Array(repeating: Array(repeating: 0, count: side), count: side)
        // The modules to the right of an edge that goes up are inside.
        func passEdge(_ column: Int, from start: Int, to end: Int) {
            for row in min(start, end)..<max(start, end) {
                for right in column..<side { windings[row][right] += end > start ? -1 : 1 }
            }
        }
        let outlines = path.split(separator: "z")
        #expect(!outlines.isEmpty)
        for outline in outlines {
            let parts = try #require(outline.wholeMatch(of: /M(\d+) (\d+)((?:[hv]-?\d+)+)/))
            let start = (column: try #require(Int(parts.output.1)), row: try #require(Int(parts.output.2)))
            var (column, row) = start
            for step in parts.output.3.matches(of: /([hv])(-?\d+)/) {
                let length = try #require(Int(step.output.2))
                if step.output.1 == "h" {
                    column += length
                } else {
                    passEdge(column, from: row, to: row + length)
                    row += length
                }
            }
            #expect(column == start.column)
            passEdge(column, from: row, to: start.row)
        }
        return windings
    }

    @Test("as SVG have outlines around each dark module, and around no other", arguments: [1, 5, 12])
    func outline(version: Int) throws {
        let version = try #require(QRVersion(version))
        for (mask, hasRoomForLogo) in (0..<8).flatMap({ [($0, false), ($0, true)] }) {
            let code = try QRCode(encoding: "a", errorCorrection: .high, minimumVersion: version, mask: mask)
            let style = try QRStyle(errorCorrection: .high, quietZone: 1, hasRoomForLogo: hasRoomForLogo)
            let side = code.modulesPerSide + 2
            let room = hasRoomForLogo ? code.logoModules : 0
            let logo = (code.modulesPerSide - room) / 2..<(code.modulesPerSide + room) / 2
            let expected = (0..<side).map { row in
                (0..<side).map { column in
                    let isFree = logo.contains(column - 1) && logo.contains(row - 1)
                    return !isFree && code.isDark(column: column - 1, row: row - 1) ? 1 : 0
                }
            }
            #expect(try windings(of: QRPicture(code, style: style).svg(), side: side) == expected)
        }
    }

    @Test("as PNG contain their size and their colours, and are small")
    func png() throws {
        let style = try QRStyle(
            foreground: QRColor(parsing: "#112233"),
            background: QRColor(parsing: "#fffeee"),
            pixels: 1_000
        )
        let png = try QRPicture(of: Self.link, style: style).png()
        let head: [UInt8] = [
            0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52,
        ]
        #expect(Array(png.prefix(29)) == head + [0, 0, 3, 0xe8, 0, 0, 3, 0xe8, 1, 3, 0, 0, 0])
        #expect(png[37..<47] == [0x50, 0x4c, 0x54, 0x45, 0xff, 0xfe, 0xee, 0x11, 0x22, 0x33])
        #expect(png.count < 4_000)
        #expect(try QRPicture(of: Self.link, style: style).png() == png)
    }

    @Test("have the checksums that PNG and its compression require")
    func checksums() {
        #expect(CRC32.value(of: Array("123456789".utf8)) == 0xcbf4_3926)
        #expect(CRC32.value(of: []) == 0)
        var checksum = Adler32()
        #expect(checksum.value == 1)
        checksum.append(Array("Wikipedia".utf8), count: 1)
        #expect(checksum.value == 0x11e6_0398)
        var (repeated, single) = (Adler32(), Adler32())
        let row = [UInt8](repeating: 255, count: 600)
        repeated.append(row, count: 5_000)
        for _ in 0..<5_000 { single.append(row, count: 1) }
        #expect(repeated.value == single.value)
    }
}
