import Attribution
import Testing

@Suite("Identifiers")
struct IdentifierTests {
    @Test(
        "have their prefix and 26 digits, and are the same when read again",
        arguments: [
            (0, 0, "clk_00000000000000000000000000"), (0, 1, "clk_00000000000000000000000001"),
            (0, 31, "clk_0000000000000000000000000z"), (0, .max, "clk_0000000000000fzzzzzzzzzzzz"),
            (1, 0, "clk_0000000000000g000000000000"), (.max, .max, "clk_7zzzzzzzzzzzzzzzzzzzzzzzzz"),
            (1 << 63, 0, "clk_40000000000000000000000000"),
        ] as [(UInt64, UInt64, String)]
    )
    func text(high: UInt64, low: UInt64, expected: String) {
        let identifier = ClickID(high: high, low: low)
        #expect(identifier.text == expected)
        #expect(ClickID(expected) == identifier)
    }

    @Test("keep every bit when read again", arguments: 0..<128)
    func everyBit(_ bit: Int) {
        let identifier = AppID(
            high: bit < 64 ? 1 << UInt64(bit) : 0,
            low: bit < 64 ? 0 : 1 << UInt64(bit - 64)
        )
        #expect(AppID(identifier.text) == identifier)
    }

    @Test(
        "accept no other spelling",
        arguments: [
            "", "clk_", "clk_0000000000000000000000000", "clk_000000000000000000000000000",
            "CLK_00000000000000000000000000", "app_00000000000000000000000000",
            "clk-00000000000000000000000000", "00000000000000000000000000", "clk_0000000000000000000000000A",
            "clk_0000000000000000000000000i", "clk_0000000000000000000000000l",
            "clk_0000000000000000000000000o", "clk_0000000000000000000000000u",
            "clk_0000000000000000000000000-", "clk_80000000000000000000000000",
            "clk_zzzzzzzzzzzzzzzzzzzzzzzzzz", " clk_00000000000000000000000000",
            "clk_00000000000000000000000000 ", "clk_0000000000000000000000000é",
            "xclk_00000000000000000000000000",
        ]
    )
    func refuses(_ text: String) { #expect(ClickID(text) == nil) }

    @Test("contain the time of their creation, and sort by that time, also as text")
    func order() {
        let times: [Int64] = [0, 1, 1_700_000_000_000, 1_700_000_000_001, 1 << 48 - 1]
        let identifiers = times.map { ClickID(at: Timestamp(milliseconds: $0), random: TestValues.random) }
        #expect(identifiers == identifiers.sorted())
        #expect(identifiers.map(\.text) == identifiers.map(\.text).sorted())
        #expect(identifiers[2].high >> 16 == 1_700_000_000_000)
        #expect(identifiers[2].high & 0xffff == 0x0108)
        #expect(identifiers[2].low == 0x0f16_1d24_2b32_3940)
    }

    @Test("of the same millisecond sort by their sequence")
    func sequence() throws {
        let identifiers = [UInt16(0), 1, 0x7fff, 0xffff].map {
            ClickID(at: TestValues.noon, sequence: $0, random: TestValues.random)
        }
        #expect(identifiers == identifiers.sorted())
        let last = try #require(identifiers.last)
        #expect(last.high == 1_700_000_000_000 << 16 | 0xffff)
    }

    @Test("clamp times beyond 48 bits of milliseconds")
    func ends() {
        let before = ClickID(at: Timestamp(milliseconds: -5), random: TestValues.random)
        let beyond = ClickID(at: Timestamp(milliseconds: .max), random: TestValues.random)
        #expect(before.high >> 16 == 0)
        #expect(beyond.high >> 16 == 1 << 48 - 1)
    }
}
