import JSON
import Testing

/// The cases follow the categories of the public JSONTestSuite (nst/JSONTestSuite): `y_`, `n_` and `i_`.
@Suite("The reader of JSON")
struct JSONGrammarTests {
    @Test(
        "reads every kind of value, alone or inside others, with space around it",
        arguments: [
            "null", "true", "false", "0", "42", "-0.1", #""asd""#, #""""#, #"" ""#, "[]", "{}", " [] ",
            "\t[]\r\n",
            "[[]   ]", #"[""]"#, "[\"a\"]\n", "[false]", "[true]", "[null]", #"[null, 1, "1", {}]"#, "[1\n]",
            " [1]", "[2] ", "[1,null,null,null,2]", "[ 4]", #"[ "asd"]"#, #"{"asd":"sdf"}"#, #"{"":0}"#,
            #"{"asd":"sdf", "dfg":"fgh"}"#, #"{ "min": -1.0e+28, "max": 1.0e+28 }"#, "{\n\"a\": \"b\"\n}",
            #"{"a":[]}"#, #"{"a":{"a":{"a":null}}}"#, #"[{"a":1},{"a":1}]"#, #"{"foo\u0000bar": 42}"#,
            #"{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "xxxxxxxxxxxxxxxx"}"#,
            #"{"title":"\u041f\u043e\u043b\u0442\u043e\u0440\u0430"}"#, #"{"a":"b","A":"c"}"#,
            #"{"a":"b","\u0061b":"c"}"#, "[0,\t1,\r2,\n3]",
        ] as [JSONDocument]
    )
    func reads(_ document: JSONDocument) {
        #expect(document.refusal == nil)
    }

    @Test(
        "refuses a byte at a position where JSON does not allow it",
        arguments: [
            // Arrays.
            "[1 true]", #"["": 1]"#, "[,1]", "[1,,2]", #"["x",,]"#, #"["",]"#, "[x", "[3[4]]", "[1:2]", "[,]",
            #"[   , ""]"#, "[1,]", "[1,,]", "[*]", "[<null>]", "[True]", "[TRUE]", "[Null]",
            "['single quote']",
            "[1 000.0]", "[1;2]", "[1}", "[,", "['", "[\u{2060}]", "[\u{00a0}1]", "[\u{000b}1]", "[\u{000c}]",
            "[é]", "[１]", "[\\n]", #"[\u0020"asd"]"#, #"[\u000A""]"#, "[-1x]", "[1+2]", "[0x1]", "[0x42]",
            "[1a]", "[1.5a]", "[1.8011670033376514H-308]", "[1.2a-3]", "[-123.123foo]", "[0.1.2]", "[-1.0.]",
            "[1\u{0}]", "[\u{0}]", "[undefined]", "[//]", "[/**/]", #"["x", truth]"#, "[fals]", "[nul]",
            "[tru]",
            "[falsE]", "[nulls]",
            // Objects.
            #"{[: "x"}"#, #"{"x", null}"#, #"{"x"::"b"}"#, "{🇨🇭}", #"{"a":"a" 123}"#, "{key: 'value'}",
            #"{"a" b}"#, #"{:"b"}"#, #"{"a" "b"}"#, "{9999E9999:1}", "{1:1}", "{null:null,null:null}",
            "{true:1}", #"{"id":0,,,,,}"#, "{'a':0}", #"{"id":0,}"#, #"{"a":"b",,"c":"d"}"#, #"{a: "b"}"#,
            #"{ "foo" : "bar", "a" }"#, #"{"a":/*comment*/"b"}"#, "{]", "{,", "{[", "{'a'", "{{}}",
            #"{"a":}"#,
            #"{"a"}"#, #"{"a":1]"#, #"{"a":1;"b":2}"#, #"{"a"=1}"#, "{[]:1}", #"{"a":b}"#, "{ }x:",
            // Outside arrays and objects.
            "abc", "*", "é", "<.>", "aå", "]", "}", ",", ":", "'a'", "+1", ".5", "Infinity", "NaN", "nan",
            "Inf",
            "\u{2028}1", "\\", "#", "/", "- 1x",
        ] as [JSONDocument]
    )
    func refusesUnexpectedByte(_ document: JSONDocument) {
        let accepted: [JSONError.Reason] = [.unexpectedByte, .trailingBytes, .malformedNumber]
        #expect(document.refusal.map { accepted.contains($0.reason) } == true)
    }

    @Test(
        "refuses a document that ends too early",
        arguments: [
            "[", "[1", "[1,", #"["""#, #"["a"#, #"["a""#, #"["a",4,1,"#, "[1,\n1\n,1", "[{}", "[{", "{",
            #"{"a"#,
            #"{"a""#, #"{"a":"#, #"{"a":"a"#, #"{"a":1"#, #"{"":"#, #"{"asd":"asd""#, #"{"x": true,"#,
            "[ false, nul",
            "[ true, fals", "[ false, tru", #"["asd]"#, "\"", #""\"#, #""\u"#, #""\u12"#,
            #"["\{["\{["\{["\{"#, "t",
            "nul", #"["\"]"#, #"["\\\"]"#, "[[[[",
        ] as [JSONDocument]
    )
    func refusesEarlyEnd(_ document: JSONDocument) {
        #expect([.unexpectedEnd, .malformedEscape].contains(document.refusal?.reason))
    }

    @Test(
        "refuses anything after the value",
        arguments: [
            #"[""],"#, #"["x"]]"#, "[1]x", "[1]]", "1]", "[][]", "{}}", "2@", #""""x"#, #"{"a":"b"}#"#, "1 2",
            #"{"a": true} "x""#, #"{"a":"b"}#{}"#, #"{"a":"b"}/**/"#, #"{"a":"b"}/**//"#, #"{"a":"b"}/"#,
            #"{"a":"b"}//"#, "null,", "truee", "123\u{0}", "[]\u{0}", "{}\u{feff}", "[]\u{00a0}", "nullnull",
            "\"a\"\"b\"",
        ] as [JSONDocument]
    )
    func refusesTrailingBytes(_ document: JSONDocument) {
        #expect(document.refusal?.reason == .trailingBytes)
    }

    @Test("refuses a document without a value", arguments: ["", " ", "\n", "\t \r\n"] as [JSONDocument])
    func refusesEmpty(_ document: JSONDocument) {
        #expect(document.refusal?.reason == .empty)
    }

    @Test(
        "refuses a name that the object already has, in any spelling",
        arguments: [
            #"{"a":"b","a":"b"}"#, #"{"a":"b","a":"c"}"#, #"{"a":1,"\u0061":2}"#, #"{"":1,"":2}"#,
            #"{"x":{"a":1,"b":2,"a":3}}"#, #"[{"\/":1,"/":1}]"#, #"{"\ud83d\ude00":1,"😀":2}"#,
        ] as [JSONDocument]
    )
    func refusesDuplicateNames(_ document: JSONDocument) {
        #expect(document.refusal?.reason == .duplicateName)
    }

    @Test("distinguishes names that only look the same")
    func composedAndDecomposedNames() throws {
        let document: JSONDocument = "{\"\u{e9}\":1,\"e\u{301}\":2}"
        let object = try #require(try JSONValue(parsing: document.bytes).object)
        #expect(object["\u{e9}"]?.int64 == 1)
        #expect(object["e\u{301}"]?.int64 == 2)
    }

    @Test("finds a repeated name among thousands, and accepts thousands of different ones")
    func manyNames() {
        let names = (0..<5000).map { "\"n\($0)\":\($0)" }
        let distinct = JSONDocument(Array("{\(names.joined(separator: ","))}".utf8))
        #expect(distinct.refusal == nil)
        for name in ["n0", "n15", "n16", "n4321", "n4999"] {
            let repeated = JSONDocument(Array("{\(names.joined(separator: ",")),\"\(name)\":0}".utf8))
            #expect(repeated.refusal?.reason == .duplicateName)
        }
    }

    @Test("reads 32 levels of arrays, of objects and of both, and refuses the 33rd")
    func depth() {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")] {
            let perStep = open.hasPrefix("[{") ? 2 : 1
            func nested(_ levels: Int) -> JSONDocument {
                let steps = levels / perStep
                return .repeating(open, steps, then: "1" + String(repeating: close, count: steps))
            }
            #expect(nested(32).refusal == nil)
            #expect(nested(32 + perStep).refusal?.reason == .tooDeep)
        }
        #expect(JSONDocument.repeating("[", 100_000).refusal?.reason == .tooDeep)
        #expect(JSONDocument.repeating(#"[{"":"#, 50_000).refusal?.reason == .tooDeep)
        #expect(
            JSONDocument.repeating("[", 500, then: String(repeating: "]", count: 500)).refusal?.reason
                == .tooDeep
        )
    }

    @Test("does not count closed levels")
    func breadth() {
        let wide = JSONDocument(
            Array("[\(Array(repeating: "[[]]", count: 1000).joined(separator: ","))]".utf8)
        )
        #expect(wide.refusal == nil)
    }

    @Test("names the byte at which reading stopped")
    func byteOffsets() {
        #expect(JSONDocument(stringLiteral: "[1,]").refusal?.byteOffset == 3)
        #expect(JSONDocument(stringLiteral: #"{"a":1,"a":2}"#).refusal?.byteOffset == 7)
        #expect(JSONDocument(stringLiteral: "[1]x").refusal?.byteOffset == 3)
        #expect(JSONDocument(stringLiteral: "[\"é\n\"]").refusal?.byteOffset == 4)
        #expect(JSONDocument(stringLiteral: "[1,]").refusal?.message.contains("byte 3") == true)
    }
}
