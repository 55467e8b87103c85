import Attribution
import Testing

@Suite("Client hints")
struct ClientHintsTests {
    @Test(
        "follow the grammar of structured fields, or are ignored",
        arguments: [
            (#""Android""#, .string("Android")), (#"  "Pixel 9"  "#, .string("Pixel 9")),
            (#""""#, .string("")), (#""a \"b\" \\ c""#, .string(#"a "b" \ c"#)),
            (#""x";v="1";flag"#, .string("x")),
            (#""x"; a=?1; b=2"#, .string("x")), ("?1", .boolean(true)), ("?0", .boolean(false)),
            ("Android", .token("Android")), ("*a/b:c", .token("*a/b:c")), ("42", .integer(42)),
            ("-7", .integer(-7)), (#""Android"#, nil), (#"Android""#, nil), (#""a" "b""#, nil),
            (#""a\b""#, nil), ("\"a\u{7}\"", nil), ("\"ş\"", nil), ("?2", nil), ("?", nil), ("", nil),
            ("  ", nil), (#""x";"#, nil), (#""x";A=1"#, nil), (#""x";a="#, nil), ("1.5", nil), ("-", nil),
            ("1234567890123456", nil), (":YQ==:", nil), ("'x'", nil),
        ] as [(String, StructuredItem.Value?)]
    )
    func structuredItem(_ field: String, value: StructuredItem.Value?) {
        #expect(StructuredItem(field)?.value == value)
    }

    @Test("contain each field's value, unless it has another type")
    func fields() {
        let hints = ClientHints(#""Android""#, "?1", #""SM-A546E""#, #""14.0.0""#)
        #expect(hints.platform == "Android" && hints.isMobile == true)
        #expect(hints.model == "SM-A546E" && hints.platformVersion == "14.0.0")
        let wrong = ClientHints("Android", #""?1""#, "?1", "14")
        #expect(wrong == ClientHints())
    }
}
