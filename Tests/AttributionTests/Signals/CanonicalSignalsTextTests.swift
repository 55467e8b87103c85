import Attribution
import Testing

@Suite("Canonical signals as a line")
struct CanonicalSignalsTextTests {
    @Test("contain the platform, and then the known values")
    func readable() {
        var phone = TestValues.iPhone
        phone.timezone = "Asia/Calcutta"
        phone.languages = ["tr-TR", "en"]
        let signals = CanonicalSignals(phone)
        let line =
            "ios; model=iPhone; os=17.2.0; screen=390x844; scale=3.0; timezone=Asia/Kolkata; "
            + "given=Asia/Calcutta; languages=tr,en"
        #expect(signals.line == line)
        #expect(CanonicalSignals(platform: .unknown).line == "unknown")
    }

    @Test(
        "are the same when read again",
        arguments: [
            CanonicalSignals(platform: .other),
            CanonicalSignals(platform: .android, model: "Pixel 9 Pro XL", panelWidth: 1080),
            CanonicalSignals(platform: .android, model: "A;B=C, 50% \n\u{7f} ünlü"),
            CanonicalSignals(platform: .ios, system: .frozen(OSVersion(major: 18, minor: 7))),
            CanonicalSignals(platform: .ios, system: .frozen(OSVersion(major: 18, minor: 6, patch: 2))),
            CanonicalSignals(platform: .ios, system: .major(26)),
            CanonicalSignals(platform: .ios, system: .minor(OSVersion(major: 26, minor: 0))),
            CanonicalSignals(platform: .ios, system: .exact(OSVersion(major: 17, minor: 2, patch: 1))),
            CanonicalSignals(platform: .android, system: .exact(OSVersion(major: 14))),
            CanonicalSignals(
                platform: .ios,
                screen: ScreenSize(390, 844),
                scale: 2.8125,
                timezone: "UTC+03:00",
                givenTimezone: "Etc/GMT-3",
                languages: ["zh", "en"]
            ),
        ]
    )
    func roundTrip(signals: CanonicalSignals) {
        let line = signals.line
        #expect(CanonicalSignals(line: line) == signals, "\(line)")
        #expect(!line.contains("\n"))
    }

    @Test("are the same when read again, for the browser of every vector")
    func vectors() throws {
        for vector in try Vectors.read("canonical", as: Vectors.Canonical.self).userAgent {
            let signals = CanonicalSignals(DeviceSignals(), userAgent: vector.userAgent)
            #expect(CanonicalSignals(line: signals.line) == signals)
        }
    }

    @Test(
        "are not read from other text",
        arguments: [
            "", "phone", "model=iPhone", "ios; model", "ios; os=x", "ios; os=frozen", "ios; screen=390",
            "ios; scale=three", "ios; width=1.5",
        ]
    )
    func refusal(line: String) { #expect(CanonicalSignals(line: line) == nil) }

    @Test("ignore values that a later version adds")
    func later() {
        let read = CanonicalSignals(line: "ios; model=iPad; depth=24")
        #expect(read == CanonicalSignals(platform: .ios, model: "iPad"))
    }
}
