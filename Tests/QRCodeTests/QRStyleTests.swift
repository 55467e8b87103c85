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
    func refuses(text: String) { #expect(throws: QRColorError.malformed) { try QRColor(parsing: text) } }
}

@Suite("Styles of QR codes")
struct QRStyleTests {
    private func style(
        _ foreground: String = "#000",
        on background: String = "#fff",
        level: QRErrorCorrection = .medium,
        quietZone: Int = 4,
        pixels: Int = 512,
        logo: Bool = false
    ) throws -> QRStyle {
        try QRStyle(
            errorCorrection: level,
            foreground: QRColor(parsing: foreground),
            background: QRColor(parsing: background),
            quietZone: quietZone,
            pixels: pixels,
            hasRoomForLogo: logo
        )
    }

    @Test("are black on white by default, of level M, 512 pixels wide with a quiet zone of 4 modules")
    func standard() throws {
        #expect(try style() == .standard)
        #expect(try QRStyle() == .standard)
    }

    @Test(
        "have dark modules on a light background",
        arguments: [
            ("#000", "#fff"), ("#1877f2", "#fff"), ("#e1306c", "#fff"), ("#949494", "#fff"), ("#000", "#aaa"),
        ]
    )
    func readable(foreground: String, background: String) throws {
        #expect(throws: Never.self) { try style(foreground, on: background) }
        #expect(throws: QRCodeError.color(.lightOnDark)) { try style(background, on: foreground) }
    }

    @Test(
        "with too little contrast are refused with the ratio and advice",
        arguments: [
            // A light foreground, a dark background, two hues of similar brightness, and one colour.
            ("#959595", "#fff", "2.9"), ("#000", "#a9a9a9", "8.9"), ("#f00", "#0c0", "1.8"),
            ("#123", "#123", "1.0"),
        ]
    )
    func contrast(foreground: String, background: String, ratio: String) throws {
        let error = try #require(throws: QRCodeError.self) { try style(foreground, on: background) }
        guard case .color(.tooLittleContrast) = error else {
            Issue.record("\(error)")
            return
        }
        for part in ["is \(ratio).", "must be 3.0 or more", "Choose"] {
            #expect(error.message.contains(part))
        }
    }

    @Test("are refused with a value out of range, and with a logo below level H")
    func ranges() throws {
        for quietZone in [0, 16] { #expect(try style(quietZone: quietZone).quietZone == quietZone) }
        for quietZone in [-1, 17, Int.max, Int.min] {
            #expect(throws: QRCodeError.quietZoneOutOfRange) { try style(quietZone: quietZone) }
        }
        for pixels in [58, 4_096] { #expect(try style(pixels: pixels).pixels == pixels) }
        for pixels in [57, 0, -512, 4_097, Int.max] {
            #expect(throws: QRCodeError.pixelsOutOfRange) { try style(pixels: pixels) }
        }
        #expect(QRCodeError.quietZoneOutOfRange.message.contains("0 to 16 modules"))
        #expect(QRCodeError.pixelsOutOfRange.message.contains("58 to 4096 pixels"))
        for level in QRErrorCorrection.allCases where level != .high {
            #expect(throws: QRCodeError.logoNeedsHighCorrection) { try style(level: level, logo: true) }
        }
        #expect(try style(level: .high, logo: true).hasRoomForLogo)
    }

    @Test("every error has a different sentence, which states what to do")
    func messages() {
        let errors: [QRCodeError] = [
            .emptyText, .textTooLong(byteCount: 5_000, level: .low), .color(.malformed), .color(.lightOnDark),
            .color(.tooLittleContrast(ratio: 1.25)), .quietZoneOutOfRange, .pixelsOutOfRange,
            .tooFewPixels(minimum: 100), .logoNeedsHighCorrection,
        ]
        #expect(Set(errors.map(\.message)).count == errors.count)
        for message in errors.map(\.message) {
            #expect(message.hasSuffix("."))
            #expect(message.contains(/choose|shorten|write|send/.ignoresCase()))
        }
    }
}

extension Link.QRDefaults {
    fileprivate init(foreground: QRColor? = nil, errorCorrection: QRErrorCorrection?) {
        self.init()
        self.foreground = foreground
        self.errorCorrection = errorCorrection
    }
}

@Suite("Options of a QR code's style")
struct QRStyleFieldTests {
    private func style(
        _ options: [QRStyleField: String],
        _ defaults: Link.QRDefaults = Link.QRDefaults()
    ) throws -> QRStyle {
        var fields = QRStyleFields()
        for (field, text) in options { fields.set(field, text) }
        var link = Link.Settings()
        link.qr = defaults
        return try QRStyle(fields, of: link)
    }

    @Test("are applied; missing options default to the link's, and then to the standard style")
    func order() throws {
        #expect(try style([:]) == .standard)
        let defaults = Link.QRDefaults(foreground: try QRColor(parsing: "#400"), errorCorrection: .quartile)
        #expect(
            try style([:], defaults)
                == QRStyle(errorCorrection: .quartile, foreground: QRColor(parsing: "#400"))
        )
        let all: [QRStyleField: String] = [
            .size: "600", .foreground: "#004", .background: "eef", .errorCorrection: "H", .quietZone: "2",
            .logo: "true",
        ]
        #expect(
            try style(all, defaults)
                == QRStyle(
                    errorCorrection: .high,
                    foreground: QRColor(parsing: "#000044"),
                    background: QRColor(parsing: "#eeeeff"),
                    quietZone: 2,
                    pixels: 600,
                    hasRoomForLogo: true
                )
        )
        #expect(all.count == QRStyleField.allCases.count)
    }

    @Test("a logo gets level H by default, and is refused at another level")
    func logo() throws {
        let low = Link.QRDefaults(errorCorrection: .low)
        #expect(try style([.logo: "true"], low).errorCorrection == .high)
        #expect(try style([.logo: "false"], low).errorCorrection == .low)
        #expect(throws: FieldProblems([QRCodeError.logoNeedsHighCorrection.problem])) {
            try style([.logo: "true", .errorCorrection: "M"])
        }
    }

    @Test("that are malformed are refused together, by name")
    func refused() throws {
        let problems = try #require(throws: FieldProblems.self) {
            try style([
                .size: "x", .foreground: "red", .background: "#12345", .errorCorrection: "m",
                .quietZone: "-1", .logo: "maybe",
            ])
        }
        #expect(Set(problems.all.map(\.field)) == Set(QRStyleField.allCases.map(\.rawValue)))
    }

    @Test("a colour must have contrast with the link's other colour")
    func colours() throws {
        var dark = Link.QRDefaults()
        dark.foreground = try QRColor(parsing: "#555")
        #expect(throws: FieldProblems.self) { try style([.background: "777"], dark) }
        #expect(throws: Never.self) { try style([.background: "fff"], dark) }
    }
}

@Suite("QR codes of links")
struct LinkQRCodeTests {
    @Test("contain the link's address with the source qr, which marks a scan, and no token")
    func marked() throws {
        let scanned = Link.scannedURL("https://go.shop.example/a")
        #expect(scanned == "https://go.shop.example/a?source=qr")
        let items = QueryItem.items(ofQuery: "source=qr"[...].utf8)
        var signals = SourceSignals(linkItems: items)
        signals.utmSource = "instagram"
        #expect(signals.reading.token == .qr)
        let picture = try QRPicture(ofLink: "https://go.shop.example/a", in: .standard)
        #expect(picture.code == (try QRCode(encoding: scanned)))
    }

    @Test("fit into a picture of the default size even with the longest address, in small files")
    func longest() throws {
        let labels = [63, 63, 63, 61].map { String(repeating: "a", count: $0) }
        let host = try #require(LinkHost(labels.joined(separator: ".")))
        let slug = try LinkSlug(parsing: String(repeating: "a", count: LinkSlug.maximumLength))
        let url = "https://\(host.text)/\(slug.text)"
        #expect(LinkHost(host.text + "a") == nil)
        for pixels in [QRStyle.standard.pixels, QRStyle.allowedPixels.upperBound] {
            let style = try QRStyle(errorCorrection: .high, quietZone: 16, pixels: pixels)
            let picture = try QRPicture(ofLink: url, in: style)
            #expect(picture.code.version.number <= 24)
            for format in QRPicture.Format.allCases {
                #expect(picture.file(format, title: url).count < 64 * 1024)
            }
        }
    }

    @Test("have the format of the file name's extension")
    func formats() throws {
        for (name, format) in [
            ("a.svg", .svg), ("a.b.PNG", .png), (".svg", .svg), ("a.jpg", nil), ("svg", nil),
            ("a.svg.gz", nil), ("", nil),
        ] as [(String, QRPicture.Format?)] { #expect(QRPicture.Format(fileName: name) == format, "\(name)") }
        let picture = try QRPicture(ofLink: "https://a.example/a", in: .standard)
        #expect(picture.file(.svg, title: "T").starts(with: "<svg ".utf8))
        #expect(picture.file(.png, title: "T").starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }
}
