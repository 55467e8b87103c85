import Foundation
import Support
import Testing

@Suite("QR codes on the command line", .blocking)
struct QRCommandTests {
    private func shop() throws -> Installation {
        let installation = try Installation()
        let set = try installation.run([
            "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp",
        ])
        #expect(set.status == 0, "\(set.errors)")
        let made = try installation.run([
            "links", "create", "summer25", "--destination", "shopapp://promo/item", "--qr-foreground",
            "#1a2b3c",
        ])
        #expect(made.status == 0, "\(made.errors)")
        return installation
    }

    @Test("a code is written to a new file, in the format of the file's ending, and contains the link's URL")
    func draws() throws {
        let installation = try shop()
        let folder = try TemporaryFolder()
        for (name, words) in [
            ("a.svg", []), ("a.png", ["--size", "300", "--error-correction", "H", "--quiet-zone", "2"]),
            ("b.PNG", ["--foreground", "#400", "--background", "ffe", "--logo"]),
        ] {
            let file = folder.file(name)
            let output = try installation.run(["links", "qr", "summer25", "--output", file] + words)
            #expect(output.status == 0, "\(output.errors)")
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
            #expect(try QRReader.text(of: bytes) == "https://go.shop.example/summer25?source=qr")
        }
        let svg = try String(contentsOfFile: folder.file("a.svg"), encoding: .utf8)
        #expect(svg.contains(##"fill="#1a2b3c""##))
    }

    @Test("a code is refused if unreadable, over an existing file, and for a link that does not exist")
    func refuses() throws {
        let installation = try shop()
        let folder = try TemporaryFolder()
        let file = folder.file("a.png")
        let wrong: [(words: [String], status: Int32, text: String)] = [
            (["summer25"], 2, "--output"),
            (["summer25", "--output", folder.file("a.gif")], 2, ".svg or .png"),
            (["summer25", "--output", file, "--size", "60"], 2, "pixels or more"),
            (["summer25", "--output", file, "--foreground", "red"], 2, "#1a2b3c"),
            (["summer25", "--output", file, "--logo", "--error-correction", "L"], 2, "level H"),
            (["other", "--output", file], 1, "links list"),
        ]
        for (words, status, text) in wrong {
            let output = try installation.run(["links", "qr"] + words)
            #expect(output.status == status && output.errors.contains(text), "\(words): \(output.errors)")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
        try Data("kept".utf8).write(to: URL(filePath: file))
        let output = try installation.run(["links", "qr", "summer25", "--output", file])
        #expect(output.status == 1 && output.errors.contains("does not exist yet"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "kept")
    }

    @Test("a code is refused without a link host, with advice")
    func withoutHost() throws {
        let installation = try Installation()
        let made = try installation.run(["links", "create", "a", "--destination", "shopapp://promo/item"])
        #expect(made.status == 0, "\(made.errors)")
        let folder = try TemporaryFolder()
        let file = folder.file("a.png")
        let output = try installation.run(["links", "qr", "a", "--output", file])
        #expect(output.status == 1 && output.errors.contains("--link-host"))
    }
}
