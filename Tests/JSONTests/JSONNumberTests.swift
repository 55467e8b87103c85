import JSON
import Testing

@Suite("The reader of JSON numbers")
struct JSONNumberTests {
    @Test(
        "keeps a number as it is written, and returns it as an integer or a double if it fits",
        arguments: [
            ("0", 0, 0), ("-0", 0, 0), ("1", 1, 1), ("-1", -1, -1), ("-123", -123, -123), ("123", 123, 123),
            ("0e+1", 0, 0), ("0e1", 0, 0), ("0E-9999", 0, 0), ("20e1", 200, 200), ("1E22", nil, 1e22),
            ("1E-2", nil, 0.01), ("1E+2", 100, 100), ("1e-2", nil, 0.01), ("1e+2", 100, 100),
            ("86400.0", 86400, 86400),
            ("8.64e4", 86400, 86400), ("0.83", nil, 0.83), ("123.456789", nil, 123.456789),
            ("123.456e78", nil, 123.456e78), ("123e45", nil, 123e45), ("123e65", nil, 123e65),
            (
                "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001", nil,
                -1e-78
            ),
            ("9223372036854775807", .max, 9_223_372_036_854_775_808),
            ("-9223372036854775808", .min, -9_223_372_036_854_775_808),
            ("9223372036854775808", nil, 9_223_372_036_854_775_808),
            ("9007199254740992.0", 9_007_199_254_740_992, 9_007_199_254_740_992),
            ("9007199254740994.0", nil, 9_007_199_254_740_994),
            ("100000000000000000000", nil, 1e20), ("1.0e+28", nil, 1e28),
            ("-123123123123123123123123123123", nil, -1.23123123123123123e29),
            ("-237462374673276894279832749832423479823246327846", nil, -2.3746237467327689e47),
            ("1e9999", nil, nil), ("-1e+9999", nil, nil), ("1.5e+9999", nil, nil),
            ("-123123e100000", nil, nil),
            ("0.4e0066999999999999999999999999999999999999999999999999999999999999999999999999999", nil, nil),
            ("123e-10000000", 0, 0), ("123.456e-789", 0, 0), ("1e-99999999999999999999999999999999", 0, 0),
        ] as [(String, Int64?, Double?)]
    )
    func reads(_ text: String, int64: Int64?, double: Double?) throws {
        let number = try #require(try JSONValue(parsing: Array(text.utf8)).number)
        #expect(number.text == text)
        #expect(number.int64 == int64)
        #expect(number.double == double)
    }

    @Test(
        "refuses texts that are not numbers",
        arguments: [
            "-", "-a", "-foo", "- 1", "--1", "-+1", "-.123", "-.", "1.", "-2.", "0.", "0.e1", "2.e3", "2.e+3",
            "2.e-3", "9.e+", "1.a", "0e", "0e+", "0E", "0E+", "0.3e", "0.3e+", "1.0e", "1.0e-", "1.0e+",
            "1eE2", "1ea", "0e+-1", "1e++1", "01", "012", "-01", "-012", "00", "-00", "00.1", "000",
            "-Infinity", "-NaN", "1e", "1e ", "1.e", "-\u{ff11}", "1e\u{ff11}",
        ]
    )
    func refuses(_ text: String) {
        #expect(JSONDocument(stringLiteral: text).refusal?.reason == .malformedNumber)
        #expect(JSONDocument(stringLiteral: "[\(text)]").refusal != nil)
        #expect(JSONDocument(stringLiteral: "{\"a\":\(text)}").refusal != nil)
    }

    @Test("refuses +, a dot or a letter before a number", arguments: ["+1", ".2e-3", ".-1", "++1234", "e1"])
    func refusesStart(_ text: String) {
        #expect(JSONDocument(stringLiteral: "[\(text)]").refusal?.reason == .unexpectedByte)
    }

    @Test("reads a number of 60,000 digits, which no type can represent")
    func longNumber() throws {
        let digits = String(repeating: "9", count: 60_000)
        let number = try #require(try JSONValue(parsing: Array(digits.utf8)).number)
        #expect(number.int64 == nil)
        #expect(number.double == nil)
    }
}
