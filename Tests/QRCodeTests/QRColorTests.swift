import Attribution
import QRCodes
import Testing

@Suite("Colours of QR codes")
struct QRColorTests {
    @Test(
        "are read from six hexadecimal digits or three, and written as six",
        arguments: [
            ("#000000", "#000000"), ("#fff", "#ffffff"), ("#1877f2", "#1877f2"), ("#1877F2", "#1877f2"),
            ("#1a9", "#11aa99"),
        ]
    )
    func reads(text: String, written: String) throws {
        let color = try QRColor(parsing: text)
        #expect(color.text == written)
        #expect(try QRColor(parsing: color.text) == color)
    }

    @Test(
        "are refused in any other form",
        arguments: [
            "", "#", "000000", "#00", "#0000", "#00000", "#0000000", "#00000000", "#00000g", " #000", "#000 ",
            "black", "rgb(0,0,0)", "#０００", "##000", "#-12", "#00000\u{301}", "#\"><x",
            String(repeating: "#", count: 1_000_000),
        ]
    )
    func refuses(text: String) {
        #expect(throws: QRColorError.malformed) { try QRColor(parsing: text) }
    }
}

@Suite("Styles of QR codes")
struct QRStyleTests {
    private func refusal(
        _ foreground: String = "#000",
        on background: String = "#fff",
        level: QRErrorCorrection = .medium,
        quietZone: Int = 4,
        pixels: Int = 512,
        logo: Bool = false
    ) throws -> QRCodeError? {
        let (foreground, background) = (try QRColor(parsing: foreground), try QRColor(parsing: background))
        do {
            _ = try QRStyle(
                errorCorrection: level,
                foreground: foreground,
                background: background,
                quietZone: quietZone,
                pixels: pixels,
                hasRoomForLogo: logo
            )
            return nil
        } catch {
            return error
        }
    }

    @Test("are black on white by default, of level M, 512 pixels wide with a quiet zone of 4 modules")
    func standard() throws {
        #expect(try QRStyle() == .standard)
        #expect(QRStyle.standard.foreground.text == "#000000")
        #expect(QRStyle.standard.background.text == "#ffffff")
        #expect(QRStyle.standard.errorCorrection == .medium)
        #expect(QRStyle.standard.pixels == 512)
        #expect(QRStyle.standard.quietZone == 4)
        #expect(!QRStyle.standard.hasRoomForLogo)
    }

    @Test(
        "have dark modules on a light background",
        arguments: [
            ("#000", "#fff"), ("#1877f2", "#fff"), ("#e1306c", "#fff"), ("#949494", "#fff"), ("#000", "#aaa"),
        ]
    )
    func readable(foreground: String, background: String) throws {
        #expect(try refusal(foreground, on: background) == nil)
        #expect(try refusal(background, on: foreground) == .color(.lightOnDark))
    }

    @Test(
        "with too little contrast are refused, with the ratio there is and what to do",
        arguments: [
            // Too near white; too dark a background; colours of different hues and the same brightness; one colour.
            ("#959595", "#fff", "2.9"), ("#000", "#a9a9a9", "8.9"), ("#f00", "#0c0", "1.8"),
            ("#123", "#123", "1.0"),
        ]
    )
    func contrast(foreground: String, background: String, ratio: String) throws {
        let error = try #require(try refusal(foreground, on: background))
        guard case .color(.tooLittleContrast) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.message.contains("is \(ratio)."))
        #expect(error.message.contains("must be 3.0 or more"))
        #expect(error.message.contains("Choose"))
    }

    @Test("are refused out of range, with the range")
    func ranges() throws {
        for quietZone in [0, 16] { #expect(try refusal(quietZone: quietZone) == nil) }
        for quietZone in [-1, 17, Int.max, Int.min] {
            #expect(try refusal(quietZone: quietZone) == .quietZoneOutOfRange)
        }
        for pixels in [58, 4_096] { #expect(try refusal(pixels: pixels) == nil) }
        for pixels in [57, 0, -512, 4_097, Int.max] {
            #expect(try refusal(pixels: pixels) == .pixelsOutOfRange)
        }
        #expect(QRCodeError.quietZoneOutOfRange.message.contains("0 to 16 modules"))
        #expect(QRCodeError.pixelsOutOfRange.message.contains("58 to 4096 pixels"))
    }

    @Test("leave room for a logo at level H alone", arguments: QRErrorCorrection.allCases)
    func logo(level: QRErrorCorrection) throws {
        #expect(try refusal(level: level, logo: true) == (level == .high ? nil : .logoNeedsHighCorrection))
    }

    @Test("say with every refusal what to do, in sentences")
    func messages() {
        let errors: [QRCodeError] = [
            .emptyText, .textTooLong(byteCount: 5_000, level: .low), .color(.malformed), .color(.lightOnDark),
            .color(.tooLittleContrast(ratio: 1.25)), .quietZoneOutOfRange, .pixelsOutOfRange,
            .tooFewPixels(least: 100),
            .logoNeedsHighCorrection,
        ]
        #expect(Set(errors.map(\.message)).count == errors.count)
        for message in errors.map(\.message) {
            #expect(message.hasSuffix("."))
            #expect(message.contains(/choose|shorten|write|send/.ignoresCase()))
        }
    }
}
