import Foundation
import Support
import Testing

/// Files of tables at the start, with the real binary.
@Suite("Files that replace built-in tables", .blocking)
struct TableFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String) throws -> String {
        let path = folder.file("table-\(UUID().uuidString)")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(
        "a start with an unusable file of a table fails with the file, and with the line or the reason",
        arguments: [
            ("--device-data", "# releases\nios-release\t99\n", "line 2"),
            ("--device-data", "", "contains no row"), ("--robots", "robot\tpreview\tExample\n", "line 1"),
            ("--robots", "person\n", "line 1"), ("--relay-ranges", "10.0.0.0/8,GB\n\nhere\n", "line 3"),
            ("--relay-ranges", "#\n", "contains no range"),
            ("--landing-page", "<b>{{nonce}}{{{script}}}\n{{titel}}", "line 2"),
            ("--landing-page", "<b>{{nonce}}</b>", "has no {{{script}}}"),
            ("--landing-page", "{{nonce}}{{{script}}}\n{{#app}}\n<i>\n", "line 2"),
        ]
    )
    func wrongFile(option: String, text: String, place: String) throws {
        let path = try file(text)
        let database = folder.file("unmade.db")
        let output = try Installation.run([
            "serve", "--listen", "127.0.0.1:0", "--database", database, option, path,
        ])
        #expect(output.status == 78)
        #expect(output.errors.contains(option) && output.errors.contains(place), "\(output.errors)")
        #expect(output.errors.contains(path) && !output.errors.contains(".."), "\(output.errors)")
        #expect(!FileManager.default.fileExists(atPath: database))
        let doctor = try Installation.run(["doctor", "--database", database, option, path])
        #expect(doctor.status == 1 && doctor.text.contains(place), "\(doctor.text)")
    }

    @Test(
        "a start with a missing file of a table fails",
        arguments: ["--device-data", "--robots", "--relay-ranges", "--landing-page"]
    )
    func missingFile(option: String) throws {
        let output = try Installation.run([
            "serve", "--listen", "127.0.0.1:0", "--database", folder.file("unmade.db"), option,
            folder.file("nowhere"),
        ])
        #expect(output.status == 78)
        #expect(output.errors.contains(option) && output.errors.contains("No such file"))
    }

    @Test("one message names all unusable files, and the settings that are wrong besides")
    func severalFiles() throws {
        let nowhere = folder.file("nowhere")
        let files = [
            "--robots", nowhere, "--relay-ranges", nowhere, "--landing-page", try file("{{titel}}"),
            "--tls-certificate", nowhere, "--tls-key", nowhere,
        ]
        for (listen, isWrong) in [("127.0.0.1:0", false), ("here", true)] {
            let output = try Installation.run(
                ["serve", "--listen", listen, "--database", folder.file("unmade.db")] + files
            )
            #expect(output.status == 78)
            for option in ["--robots", "--relay-ranges", "--landing-page", "\(nowhere): No such file"] {
                #expect(output.errors.contains(option), "\(output.errors)")
            }
            #expect(output.errors.contains("certificate") && !output.errors.contains("--device-data"))
            #expect(output.errors.contains("--listen \"here\"") == isWrong, "\(output.errors)")
        }
    }

    @Test("a file of robots determines whose clicks never match")
    func robots() throws {
        let robots = try file("robot\tcrawler\tExample\tour-own-crawler\thttps://example.com/crawler\n")
        let (_, _, connection) = try Installation.serving(["--robots", robots])
        for (number, agent) in ["Our-Own-Crawler/1.0", "facebookexternalhit/1.1"].enumerated() {
            let click = try connection.click(fingerprint(number), fields: ["User-Agent": agent])
            #expect(click.status == 201)
            let check = try connection.check(fingerprint(number))
            // The list replaces the built-in list.
            #expect(check.isMatch == (number == 1))
        }
    }

    @Test("a file of many ranges is read, and the service starts")
    func manyRanges() throws {
        var text = "# first column: range\n"
        for number in 0..<20_000 {
            text += "172.\(224 + number / 65_536).\(number / 256 % 256).\(number % 256)/32,GB,GB-EN,London,\n"
        }
        let (_, _, connection) = try Installation.serving(["--relay-ranges", try file(text)])
        #expect(try connection.click(fingerprint(1)).status == 201)
        #expect(try connection.check(fingerprint(1)).isMatch)
    }
}
