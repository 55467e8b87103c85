import Attribution
import Testing

@Suite("Small values")
struct SmallValueTests {
    @Test("a campaign key and a journey id have 1 to 255 characters of any kind")
    func lengths() {
        for text in ["a", " ", "SUMMER 2025", "yaz indirimi ğüş", String(repeating: "é", count: 255)] {
            #expect(CampaignKey(text)?.text == text)
            #expect(JourneyID(text)?.text == text)
        }
        #expect(CampaignKey("") == nil)
        #expect(JourneyID("") == nil)
        #expect(CampaignKey(String(repeating: "a", count: 256)) == nil)
        #expect(JourneyID(String(repeating: "é", count: 256)) == nil)
    }

    @Test("a zero byte of a campaign key or a source is the character that PostgreSQL stores instead")
    func zeroBytes() {
        #expect(CampaignKey("a\u{0}b")?.text == "a\u{1A}b")
        var signals = SourceSignals(linkItems: [])
        signals.source = "a\u{0}b"
        #expect(signals.reading.raw == "a\u{1A}b")
    }

    @Test("campaign keys and slugs are equal only if their bytes are, as in a database")
    func bytes() {
        #expect(CampaignKey("\u{E9}") == CampaignKey("\u{E9}"))
        #expect(CampaignKey("\u{E9}") != CampaignKey("e\u{301}"))
        #expect(LinkSlug(stored: "KIS-25") == LinkSlug(stored: "KIS-25"))
        #expect(LinkSlug(stored: "\u{212A}IS-25") != LinkSlug(stored: "KIS-25"))
        let slugs: [LinkSlug: Int] = [LinkSlug(stored: "\u{212A}IS-25"): 1]
        #expect(slugs[LinkSlug(stored: "KIS-25")] == nil)
    }

    @Test("a new journey id has the prefix j_ and the digits of an identifier of that time")
    func madeJourneyID() {
        let click = ClickID(at: TestValues.noon, random: TestValues.random).text
        let journey = JourneyID(at: TestValues.noon, random: TestValues.random)
        #expect(journey.text == "j_" + click.dropFirst("clk_".count))
    }

    @Test(
        "an install id has 1 to 64 letters, digits, hyphens or underscores",
        arguments: [
            ("a", true), ("AZaz09_-", true), (String(repeating: "x", count: 64), true), ("", false),
            (String(repeating: "x", count: 65), false), ("a b", false), ("a.b", false), ("é", false),
            ("a\n", false), ("a/b", false),
        ]
    )
    func installID(_ text: String, isAccepted: Bool) { #expect((InstallID(text) != nil) == isAccepted) }

    @Test(
        "an attribution window lasts from a minute to thirty days",
        arguments: [
            (59, false), (60, true), (86_400, true), (2_592_000, true), (2_592_001, false), (0, false),
            (-60, false), (.max, false), (.min, false),
        ] as [(Int64, Bool)]
    )
    func window(seconds: Int64, isAccepted: Bool) {
        #expect((AttributionWindow(seconds: seconds) != nil) == isAccepted)
    }

    @Test(
        "a window covers a click to its last millisecond, and clicks from the future",
        arguments: [(0, true), (86_400_000, true), (86_400_001, false), (-1, true), (-86_400_000, true)]
            as [(Int64, Bool)]
    )
    func covers(age: Int64, isCovered: Bool) throws {
        let day = try #require(AttributionWindow(seconds: 86_400))
        let clickedAt = TestValues.noon.advanced(byMilliseconds: -age)
        #expect(day.covers(clickedAt: clickedAt, now: TestValues.noon) == isCovered)
    }

    @Test("timestamps stay at their limits instead of overflowing")
    func saturation() {
        let end = Timestamp(milliseconds: .max)
        let beginning = Timestamp(milliseconds: .min)
        #expect(end.advanced(byMilliseconds: 1) == end)
        #expect(beginning.advanced(byMilliseconds: -1) == beginning)
        #expect(end.milliseconds(since: beginning) == .max)
        #expect(beginning.milliseconds(since: end) == .min)
        #expect(TestValues.noon.advanced(byMilliseconds: 5).milliseconds(since: TestValues.noon) == 5)
        #expect(AttributionWindow.standard.covers(clickedAt: end, now: end))
    }
}
