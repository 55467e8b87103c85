import Attribution
import Testing

@Suite("Data of devices")
struct DeviceDataTests {
    private func replaced(_ text: String) throws(DataFileError) -> DeviceData {
        try DeviceData(replacing: Array(text.utf8), file: "own.tsv")
    }

    @Test("is built in: time zones, languages, and releases whose shares add up to one")
    func embedded() {
        let data = DeviceData.embedded
        #expect(data.releases.all.count > 80)
        #expect(abs(data.releases.all.reduce(0) { $0 + $1.share } - 1) < 1e-9)
        #expect(data.timeZones.canonical("Europe/Istanbul") == "Europe/Istanbul")
        #expect(data.languages.canonical("tur") == "tr")
    }

    @Test(
        "uses a file's rows for the kinds that the file contains, and the built-in rows for other kinds"
    )
    func replacing() throws {
        let data = try replaced("# the latest\nios-release\t27.0\t3\t24A1\nios-release\t27.0.1\t1\n")
        #expect(data.releases.all.map(\.version) == [OSVersion(major: 27), OSVersion(major: 27, patch: 1)])
        #expect(data.releases.all.map(\.share) == [0.75, 0.25])
        #expect(data.timeZones.canonical("Turkey") == "Europe/Istanbul")

        let zones = try replaced("zone\tMars/Base\tMars/Old\nzone-spelling\tMars/Base\tMars/Old\t0.4")
        #expect(zones.timeZones.canonical("mars/old") == "Mars/Base")
        #expect(zones.timeZones.canonical("Turkey") == "Turkey")
        #expect(zones.releases.all.count == DeviceData.embedded.releases.all.count)
        #expect(try replaced("zone\tMars/Base").timeZones.canonical("Mars/base") == "Mars/Base")
    }

    @Test("recognises a later system in user agents once a file lists its builds")
    func laterSystem() throws {
        let data = try replaced(
            "ios-build\t24\t27\nios-release\t27.1\t1\t24B50\nios-darwin\t26\t27\nios-browser\tNewOS/"
        )
        func reading(_ text: String) -> OSVersionReading { UserAgent(text, releases: data.releases).system }
        let agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) Mobile/"
        #expect(reading(agent + "24B50") == .exact(OSVersion(major: 27, minor: 1)))
        #expect(reading(agent + "24C1") == .minor(OSVersion(major: 27, minor: 2)))
        #expect(reading("Shop/1 CFNetwork/1 Darwin/26.3.0") == .minor(OSVersion(major: 27, minor: 3)))
        #expect(reading(agent + "15E148 NewOS/1") == .minor(OSVersion(major: 18, minor: 7)))
    }

    @Test(
        "is refused with line, column and remedy",
        arguments: [
            ("ios-release\t17.2", 1, 3), ("ios-release\tseventeen\t1", 1, 2), ("ios-release\t17.2\t0", 1, 3),
            ("ios-release\t17.2\tmuch", 1, 3), ("ios-release\t17.2\t1\t21C-66", 1, 4),
            ("ios-release\t17.2\t1\nios-release\t17.2\t1", 2, 2),
            ("ios-release\t17.2\t1\t21C62\nios-release\t17.3\t1\t21C62", 2, 4), ("ios-build\t23", 1, 3),
            ("ios-build\t23\tx", 1, 3), ("ios-build\t23\t26\nios-build\t23\t27", 2, 2),
            ("ios-darwin\t100\t26", 1, 2), ("ios-frozen\t18.7\t26.1", 1, 4),
            ("ios-frozen\t18.7\t26.1\t26.0", 1, 4),
            ("ios-frozen\t18.7\t26.1\t-\nios-frozen\t18.7\t27.0\t-", 2, 2), ("ios-browser\tx", 1, 2),
            ("ios-screen\t390\t844\t3\t1170", 1, 6), ("ios-screen\t844\t390\t3\t1170\t1", 1, 3),
            ("ios-screen\t390\t844\t12\t1170\t1", 1, 4), ("android-width\t0", 1, 2),
            ("android-width\t1080\nandroid-width\t1080", 2, 2), ("zone\tA|B", 1, 2),
            ("zone\tA/B\tC\nzone\tC", 2, 2), ("zone-spelling\tEurope/Istanbul\tEurope/Paris\t0.5", 1, 3),
            ("zone-spelling\tEurope/Istanbul\tTurkey\t1.5", 1, 4),
            (
                "zone-spelling\tEurope/Istanbul\tTurkey\t0.6\nzone-spelling\tEurope/Istanbul\tAsia/Istanbul\t0.5",
                2, 4
            ),
            ("language\tTR", 1, 2), ("language\ttr\ttur\nlanguage\ttur", 2, 2),
            ("language-spelling\the\ttr\t0\t0", 1, 3), ("language-spelling\the\tiw\t0\t2", 1, 5),
            ("robot\tx", 1, 1),
        ]
    )
    func refusals(_ text: String, line: Int, column: Int) {
        #expect { try replaced(text) } throws: { error in
            guard let error = error as? DataFileError else { return false }
            return error.file == "own.tsv" && error.line == line && error.column == column
                && error.message.hasSuffix(".") && !error.remedy.isEmpty
        }
    }

    @Test("is refused when a file contains no row")
    func empty() {
        #expect { try replaced("# nothing\n") } throws: { error in
            (error as? DataFileError)?.message
                == "own.tsv contains no row. Write at least one, or omit the file."
        }
    }
}
