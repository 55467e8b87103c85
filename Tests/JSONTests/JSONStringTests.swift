import JSON
import Testing

@Suite("The reader of JSON strings")
struct JSONStringTests {
    @Test(
        "reads escapes and characters of every length",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (#""\u0060\u012a\u12AB""#, "\u{60}\u{12a}\u{12ab}"), (#""\uD801\udc37""#, "\u{10437}"),
            (#""\ud83d\ude39\ud83d\udc8d""#, "\u{1f639}\u{1f48d}"), (#""\uD834\uDd1e""#, "\u{1d11e}"),
            (#""\uDBFF\uDFFF""#, "\u{10ffff}"), (#""\uDBFF\uDFFE""#, "\u{10fffe}"),
            (#""\uD83F\uDFFE""#, "\u{1fffe}"), (#""\\u0000""#, "\\u0000"), (#""\u0000""#, "\u{0}"),
            (#""\u0012""#, "\u{12}"), (#""\uFFFF\uFFFE""#, "\u{ffff}\u{fffe}"),
            (#""\uFDD0""#, String(decoding: [0xef, 0xb7, 0x90] as [UInt8], as: UTF8.self)),
            (#""\\a""#, "\\a"), (#""\\n""#, "\\n"), (#""a/*b*/c/*d//e""#, "a/*b*/c/*d//e"),
            (#""new\u00A0line\u000A""#, "new\u{a0}line\n"),
            (#""\u0061\u30af\u30EA\u30b9""#, "a\u{30af}\u{30ea}\u{30b9}"), (#""\u005C\u0022""#, "\\\""),
            (#""\uA66D\u200B\u2064\u0821\u0123\u002c""#, "\u{a66d}\u{200b}\u{2064}\u{821}\u{123},"),
            ("\"\u{7f}a\u{7f}\"", "\u{7f}a\u{7f}"), ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
            ("\"π€𝄞⍂㈴⍂\"", "π€𝄞⍂㈴⍂"), ("\"\u{ffff}\u{10ffff}\u{1bfff}\"", "\u{ffff}\u{10ffff}\u{1bfff}"),
            ("\"\u{feff}\"", "\u{feff}"), ("\"ends with \\u00e9\"", "ends with é"),
            ("\"\\u00e9 begins\"", "é begins"),
        ] as [(String, String)]
    )
    func reads(_ document: String, expected: String) throws {
        let value = try JSONValue(parsing: Array(document.utf8))
        #expect(value.string.map { Array($0.utf8) } == Array(expected.utf8))
    }

    @Test(
        "refuses escapes that JSON does not have",
        arguments: [
            #"["\a"]"#, #"["\x00"]"#, #"["\'"]"#, #"["\0"]"#, #"["\U0041"]"#, #"["\UA66D"]"#, #"["\u"]"#,
            #"["\u1"]"#, #"["\u00A"]"#, #"["\uqqqq"]"#, #"["\u00G0"]"#, #"["\u-001"]"#, #"["\u 041"]"#,
            "[\"\\\t\"]", "[\"\\\n\"]", "[\"\\🌀\"]", "[\"\\é\"]", "[\"\\u00é\"]", "[\"\\\u{0}\"]",
            #"["\uD800\u"]"#, #"["\uD800\u1"]"#, #"["\uD800\u1x"]"#, #"["\uD834\uDd"]"#, #"["\v"]"#,
            #"["\e"]"#, #"["\101"]"#, #"["\u{41}"]"#,
        ] as [JSONDocument]
    )
    func refusesEscapes(_ document: JSONDocument) { #expect(document.refusal?.reason == .malformedEscape) }

    @Test(
        "refuses half a surrogate pair",
        arguments: [
            #"["\uD800"]"#, #"["\ud800"]"#, #"["\uDADA"]"#, #"["\uDFAA"]"#, #"{"\uDFAA":0}"#,
            #"["\uD888\u1234"]"#, #"["\uD800\n"]"#, #"["\uDd1ea"]"#, #"["\uD800\uD800\n"]"#,
            #"["\ud800abc"]"#, #"["\uDd1e\uD834"]"#, #"["\uD800\uD800\x"]"#, #"["\uD800\"]"#,
            #"["\uD800\\uDC00"]"#, #"["\uDC00"]"#, #"["\uDFFF\uDFFF"]"#, #"["\uDBFF"]"#, #"["\uD800\uDBFF"]"#,
            #"["\uD800\uE000"]"#,
        ] as [JSONDocument]
    )
    func refusesHalfSurrogatePairs(_ document: JSONDocument) {
        #expect(document.refusal?.reason == .loneSurrogate)
    }

    @Test("refuses every control character that is not escaped", arguments: UInt8(0)...0x1f)
    func refusesControlCharacters(_ byte: UInt8) {
        #expect(JSONDocument.inString(0x61, byte, 0x61).refusal?.reason == .controlCharacter)
        #expect(JSONDocument.inString(byte).refusal?.reason == .controlCharacter)
    }

    @Test(
        "refuses bytes that are not UTF-8",
        arguments: [
            // Single and missing continuation bytes, and bytes that UTF-8 never contains.
            .inString(0x80), .inString(0x81), .inString(0xbf), .inString(0xff), .inString(0xfe),
            .inString(0xe9), .inString(0xc2), .inString(0xdf), .inString(0xe2, 0x82),
            .inString(0xf0, 0x9f, 0x98), .inString(0xe0, 0xff), .inString(0xe6, 0x97, 0xa5, 0xd1, 0x88, 0xfa),
            .inString(0xc2, 0xc0), .inString(0xc3, 0xc1), .inString(0xe4, 0x80, 0x20),
            .inString(0xf1, 0x80, 0xc0, 0x80), .inString(0xf3, 0x80, 0x80, 0xc0), .inString(0xc5, 0xff),
            // Overlong forms.
            .inString(0xc0, 0xaf), .inString(0xc0, 0x80), .inString(0xc1, 0xbf), .inString(0xe0, 0x80, 0x80),
            .inString(0xe0, 0x9f, 0xbf), .inString(0xf0, 0x80, 0x80, 0x80), .inString(0xf0, 0x8f, 0xbf, 0xbf),
            .inString(0xf8, 0x80, 0x80, 0x80, 0x80), .inString(0xfc, 0x80, 0x80, 0x80, 0x80, 0x80),
            .inString(0xfc, 0x83, 0xbf, 0xbf, 0xbf, 0xbf),
            // Surrogates, and characters beyond U+10FFFF.
            .inString(0xed, 0xa0, 0x80), .inString(0xed, 0xbf, 0xbf),
            .inString(0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80), .inString(0xf4, 0x90, 0x80, 0x80),
            .inString(0xf4, 0xbf, 0xbf, 0xbf), .inString(0xf5, 0x80, 0x80, 0x80),
            .inString(0xf7, 0xbf, 0xbf, 0xbf),
            // Outside strings, in a member's name and in escapes.
            [0x5b, 0xff, 0x5d], [0x5b, 0x61, 0xe5, 0x5d], [0x5b, 0x31, 0xe5, 0x5d],
            [0x5b, 0x31, 0x65, 0xe5, 0x5d], [0xe5], [0x7b, 0x22, 0xb9, 0x22, 0x3a, 0x30, 0x7d],
            [0xef, 0xbb, 0x7b, 0x7d], [0x5b, 0x22, 0x5c, 0x75, 0xe5, 0x22, 0x5d],
            [0x5b, 0x22, 0x5c, 0xe5, 0x22, 0x5d], [0x5b, 0x31, 0x65, 0x31, 0xe5, 0x5d],
            // UTF-16 with a byte order mark.
            [0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00], [0xfe, 0xff, 0x00, 0x5b, 0x00, 0x5d],
        ] as [JSONDocument]
    )
    func refusesInvalidUTF8(_ document: JSONDocument) { #expect(document.refusal?.reason == .invalidUTF8) }

    @Test(
        "refuses a byte order mark, and UTF-16 and UTF-32 without one",
        arguments: [
            ([0xef, 0xbb, 0xbf, 0x7b, 0x7d], .byteOrderMark), ([0xef, 0xbb, 0xbf], .byteOrderMark),
            ([0x00, 0x5b, 0x00, 0x5d], .unexpectedByte), ([0x5b, 0x00, 0x5d, 0x00], .unexpectedByte),
            ([0x5b, 0x00, 0x00, 0x00, 0x5d, 0x00, 0x00, 0x00], .unexpectedByte),
        ] as [(JSONDocument, JSONError.Reason)]
    )
    func refusesOtherEncodings(_ document: JSONDocument, reason: JSONError.Reason) {
        #expect(document.refusal?.reason == reason)
    }
}
