import Attribution
import Testing

@Suite("Amounts of money")
struct MoneyTests {
    @Test(
        "are read with at most the decimal places of their currency, and written with all of them",
        arguments: [
            ("12.90", "EUR", 1290, "12.90"), ("12.9", "eur", 1290, "12.90"), ("12", "EUR", 1200, "12.00"),
            ("-0.05", "USD", -5, "-0.05"), ("0", "TRY", 0, "0.00"), ("1500", "JPY", 1500, "1500"),
            ("1.234", "KWD", 1234, "1.234"), ("0.0001", "CLF", 1, "0.0001"),
            ("0012.50", "EUR", 1250, "12.50"),
            ("10000000000000.00", "EUR", 1_000_000_000_000_000, "10000000000000.00"),
        ] as [(String, String, Int64, String)]
    )
    func read(text: String, code: String, amount: Int64, written: String) throws {
        let currency = try #require(Currency(code))
        let money = try #require(Money(text, currency))
        #expect(money.amount == amount && money.text == written)
    }

    @Test(
        "are not read from other texts",
        arguments: [
            ("12.905", "EUR"), ("1.5", "JPY"), ("", "EUR"), (".5", "EUR"), ("5.", "EUR"), ("1e3", "EUR"),
            ("+1", "EUR"),
            ("--1", "EUR"), ("1,50", "EUR"), ("1 000", "EUR"), ("NaN", "EUR"), ("٣", "EUR"),
            ("10000000000000.01", "EUR"), ("9999999999999999", "JPY"), ("9999999999999999.9999", "CLF"),
            ("-", "EUR"), ("1.2.3", "KWD"),
        ]
    )
    func refused(text: String, code: String) throws {
        let currency = try #require(Currency(code))
        #expect(Money(text, currency) == nil)
    }

    @Test("have the currencies of ISO 4217, without metals, funds and codes for tests")
    func currencies() {
        #expect(["EU", "EURO", "XXX", "XTS", "XAU", "ABC", ""].allSatisfy { Currency($0) == nil })
        // The kelvin sign equals K for Swift, and the capitals of ß and ı are SS and I.
        #expect(["\u{212A}ZT", "ßp", "ıls", "\u{17F}ek"].allSatisfy { Currency($0) == nil })
        #expect(Currency("ISK")?.minorUnits == 0 && Currency("BHD")?.minorUnits == 3)
        #expect(Currency("UYW")?.minorUnits == 4 && Currency("try")?.code == "TRY")
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".map(String.init)
        let pairs = letters.flatMap { first in letters.map { first + $0 } }
        let codes = pairs.flatMap { pair in letters.map { pair + $0 } }
        #expect(codes.count { Currency($0) != nil } > 150)
    }
}

@Suite("Events")
struct AppEventTests {
    @Test("have names of lower-case letters, digits and underscores")
    func names() {
        #expect(
            ["a", "sign_up", "level_7", String(repeating: "x", count: 40)].allSatisfy { EventName($0) != nil }
        )
        let wrong = ["", "Purchase", "a-b", "a b", "é", String(repeating: "x", count: 41)]
        #expect(wrong.allSatisfy { EventName($0) == nil })
        #expect(EventName.reserved.allSatisfy { EventName($0) != nil })
    }

    @Test("belong to the first cohort whose day has not ended")
    func cohorts() {
        let match = Timestamp(milliseconds: 1_700_000_000_000)
        func day(_ days: Int64, _ more: Int64 = 0) -> Int64? {
            EventCount.cohortDay(
                of: match.advanced(byMilliseconds: days * 86_400_000 + more),
                matchedAt: match
            )
        }
        #expect([day(0), day(0, -1), day(1, -1), day(1), day(2), day(3, 1)] == [0, 0, 0, 1, 3, 3])
        #expect([day(4), day(8), day(14), day(30), day(31, -1), day(31)] == [7, 14, 14, 30, 30, nil])
    }

    @Test("are credited to a match that comes within 30 days")
    func waiting() {
        let match = Timestamp(milliseconds: 1_700_000_000_000)
        let attribution = EventAttribution(
            click: ClickID(high: 1, low: 2),
            campaign: nil,
            source: .direct,
            link: nil,
            variant: nil,
            method: .signedToken,
            matchedAt: match
        )
        let first = match.advanced(byMilliseconds: -30 * 86_400_000)
        #expect(attribution.mayCredit(eventAt: first) && attribution.mayCredit(eventAt: match))
        #expect(!attribution.mayCredit(eventAt: first.advanced(byMilliseconds: -1)))
    }
}
