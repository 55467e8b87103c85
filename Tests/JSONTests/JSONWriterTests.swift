import JSON
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    @Test("writes members and elements in the order of the calls, without spaces")
    func compact() {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("status", "match")
            writer.member("matched", true)
            writer.member("attributionWindow", 86_400)
            writer.member("confidence", 0.83)
            writer.member("missing", String?.none)
            writer.member("none") { $0.null() }
            writer.member("list") { writer in
                writer.array { writer in
                    writer.value(1)
                    writer.value("two")
                    writer.value(false)
                    writer.object { _ in }
                    writer.array { _ in }
                }
            }
            writer.member("metadata") { $0.raw(#"{ "a" : 1 }"#.utf8) }
            writer.member("last", Int64.min)
        }
        #expect(
            writer.text
                == #"{"status":"match","matched":true,"attributionWindow":86400,"confidence":0.83,"none":null,"#
                + #""list":[1,"two",false,{},[]],"metadata":{ "a" : 1 },"last":-9223372036854775808}"#
        )
    }

    @Test("writes each member and element on its own line if people will read the text")
    func pretty() {
        var writer = JSONWriter(isPretty: true)
        writer.object { writer in
            writer.member("a", 1)
            writer.member("b") { writer in
                writer.array { writer in
                    writer.value("x")
                    writer.object { $0.member("c", true) }
                    writer.array { _ in }
                }
            }
        }
        #expect(
            writer.text == """
                {
                  "a": 1,
                  "b": [
                    "x",
                    {
                      "c": true
                    },
                    []
                  ]
                }
                """
        )
    }

    @Test(
        "escapes the characters that JSON requires to be escaped, and characters that end a script or a line",
        arguments: [
            ("plain", #""plain""#), ("", #""""#), ("\"\\/", #""\"\\/""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{8}\u{c}\u{1f}\u{7f}", #""\u0000\u0008\u000c\u001f\u007f""#),
            ("</script>", #""\u003c/script>""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#), ("é€😀", #""é€😀""#),
            ("’", #""’""#), ("é\n😀", #""é\n😀""#),
        ]
    )
    func escapes(_ text: String, expected: String) {
        var writer = JSONWriter()
        writer.value(text)
        #expect(writer.text == expected)
    }

    @Test(
        "writes doubles that a reader converts to the same number, and null for infinity and NaN",
        arguments: [
            (0.83, "0.83"), (1.0, "1.0"), (-0.0, "-0.0"), (1e-7, "1e-07"), (1e300, "1e+300"),
            (0.1 + 0.2, "0.30000000000000004"),
            (.nan, "null"), (.infinity, "null"), (-.infinity, "null"),
        ] as [(Double, String)]
    )
    func doubles(_ number: Double, expected: String) throws {
        var writer = JSONWriter()
        writer.value(number)
        #expect(writer.text == expected)
        if number.isFinite { #expect(try JSONValue(parsing: writer.bytes).double == number) }
    }

    @Test("writes every character so that the reader returns it")
    func roundTrip() throws {
        for first in stride(from: UInt32(0), through: 0x10ffff, by: 97) {
            var text = ""
            for value in first..<first + 97 { Unicode.Scalar(value).map { text.unicodeScalars.append($0) } }
            var writer = JSONWriter()
            writer.value(text)
            let back = try #require(try JSONValue(parsing: writer.bytes).string)
            #expect(back.utf8.elementsEqual(text.utf8))
        }
    }
}
