import Attribution
import QRCodes
import Testing

@Suite("Wishes for a QR code's looks")
struct QRStyleFieldTests {
    private func style(_ wishes: [QRStyleField: String], _ look: Link.QRDefaults = Link.QRDefaults()) throws
        -> QRStyle
    {
        var fields = QRStyleFields()
        for (field, text) in wishes { fields.set(field, text) }
        var link = Link.Settings()
        link.qr = look
        return try QRStyle(fields, of: link)
    }

    @Test("are all heard; what is not wished for is as the link has it, and then as usual")
    func order() throws {
        #expect(try style([:]) == .standard)
        let look = Link.QRDefaults(foreground: try QRColor(parsing: "#400"), errorCorrection: .quartile)
        #expect(
            try style([:], look)
                == QRStyle(errorCorrection: .quartile, foreground: QRColor(parsing: "#400"))
        )
        let all: [QRStyleField: String] = [
            .size: "600", .foreground: "#004", .background: "eef", .errorCorrection: "H", .quietZone: "2",
            .logo: "true",
        ]
        #expect(
            try style(all, look)
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

    @Test("for room for a logo bring level H along, unless another level is wished for, which is refused")
    func logo() throws {
        let look = Link.QRDefaults(errorCorrection: .low)
        #expect(try style([.logo: "true"], look).errorCorrection == .high)
        #expect(try style([.logo: "false"], look).errorCorrection == .low)
        #expect(throws: FieldProblems([QRCodeError.logoNeedsHighCorrection.problem])) {
            try style([.logo: "true", .errorCorrection: "M"])
        }
    }

    @Test("that nobody can read are refused by their field, all at once")
    func refused() {
        let wishes: [QRStyleField: String] = [
            .size: "x", .foreground: "red", .background: "#12345", .errorCorrection: "m", .quietZone: "-1",
            .logo: "maybe",
        ]
        do {
            _ = try style(wishes)
            Issue.record("\(wishes) are no style")
        } catch let problems as FieldProblems {
            #expect(Set(problems.all.map(\.field)) == Set(QRStyleField.allCases.map(\.rawValue)))
        } catch {
            Issue.record(error)
        }
    }

    @Test("fit together with the colour that is the link's own, or are refused")
    func colours() throws {
        let dark = Link.QRDefaults(foreground: try QRColor(parsing: "#555"))
        #expect(throws: FieldProblems.self) { try style([.background: "777"], dark) }
        #expect(throws: Never.self) { try style([.background: "fff"], dark) }
    }
}

@Suite("QR codes of links")
struct LinkQRCodeTests {
    @Test("hold the link's address with the source qr, by which a scan is told from a tap")
    func marked() {
        let scanned = Link.scannedURL("https://go.shop.example/summer25")
        #expect(scanned == "https://go.shop.example/summer25?source=qr")
        let items = QueryItem.items(ofQuery: "source=qr"[...].utf8)
        #expect(SourceSignals(linkItems: items, utmSource: "instagram").reading.token == .qr)
    }

    @Test("hold no token, whatever the picture: that of a page is drawn of another address")
    func noToken() throws {
        let picture = try QRPicture(ofLink: "https://go.shop.example/a", in: .standard)
        #expect(picture.code == (try QRCode(encoding: "https://go.shop.example/a?source=qr")))
    }

    @Test(
        "of the longest address that a link can have fit into a picture of the usual size, and stay small files"
    )
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

    @Test("are files by the ending of their name")
    func formats() throws {
        for (name, format) in [
            ("a.svg", QRPicture.Format.svg), ("a.b.PNG", .png), (".svg", .svg), ("a.jpg", nil), ("svg", nil),
            ("a.svg.gz", nil), ("", nil),
        ] as [(String, QRPicture.Format?)] {
            #expect(QRPicture.Format(fileName: name) == format, "\(name)")
        }
        let picture = try QRPicture(ofLink: "https://a.example/a", in: .standard)
        #expect(picture.file(.svg, title: "T").starts(with: "<svg ".utf8))
        #expect(picture.file(.png, title: "T").starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }
}
