import JSON
import Testing

@Suite("JSON values")
struct JSONValueTests {
    private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test("are returned only as their own type")
    func accessors() throws {
        let object = try #require(try value(#"{"n":null,"b":true,"i":7,"s":"x","a":[1],"o":{}}"#).object)
        #expect(object["n"]?.isNull == true)
        #expect(object["b"]?.bool == true)
        #expect(object["i"]?.int64 == 7)
        #expect(object["i"]?.double == 7)
        #expect(object["s"]?.string == "x")
        #expect(object["a"]?.array?.count == 1)
        #expect(object["o"]?.object?.members.isEmpty == true)

        #expect(object["missing"] == nil)
        #expect(object["i"]?.string == nil)
        #expect(object["s"]?.int64 == nil)
        #expect(object["b"]?.int64 == nil)
        #expect(object["n"]?.bool == nil)
        #expect(object["a"]?.object == nil)
        #expect(object["o"]?.array == nil)
    }

    @Test("keep the members in the order of the document")
    func order() throws {
        let object = try #require(try value(#"{"z":1,"a":2,"m":3}"#).object)
        #expect(object.members.map(\.name) == ["z", "a", "m"])
    }

    @Test("contain the byte range of each object, so that the object can be copied as it was written")
    func byteRange() throws {
        let text = #" {"a" : 1, "metadata": { "utm_source" : "é\u0041", "x":1.50 } , "z":{}}"#
        let root = try #require(try value(text).object)
        let metadata = try #require(root["metadata"]?.object)
        let bytes = Array(text.utf8)
        #expect(
            String(decoding: bytes[metadata.byteRange], as: UTF8.self)
                == #"{ "utm_source" : "é\u0041", "x":1.50 }"#
        )
        #expect(root.byteRange == 1..<bytes.count)
        #expect(try #require(root["z"]?.object).byteRange.count == 2)
    }

    @Test("are equal if they have the same members in the same order, at any position")
    func equality() throws {
        #expect(try value(#"{"a":{"b":[1,"x"]}}"#) == value(#"  { "a" : {"b":[ 1, "\u0078" ]} }"#))
        for other in [
            #"{"a":{"b":[1,"y"]}}"#, #"{"a":{"c":[1,"x"]}}"#, #"{"a":{"b":[1.0,"x"]}}"#, #"{"a":{}}"#, "[]",
        ] { #expect(try value(#"{"a":{"b":[1,"x"]}}"#) != value(other)) }
        #expect(try value(#"{"a":1,"b":2}"#) != value(#"{"b":2,"a":1}"#))
    }

    @Test("have a name for each kind")
    func kinds() throws {
        let kinds = try ["null", "true", "1", #""""#, "[]", "{}"].map { try value($0).kind }
        #expect(kinds == ["null", "true or false", "a number", "a string", "an array", "an object"])
    }

    @Test("are refused with a different sentence for each reason")
    func sentences() {
        let documents: [JSONDocument] = [
            "", [0xef, 0xbb, 0xbf], [0xff], "x", "[", "1 1", "-", "\"\n\"", #""\a""#, #""\ud800""#,
            #"{"":1,"":1}"#, .repeating("[", 40),
        ]
        let refusals = documents.compactMap(\.refusal)
        #expect(refusals.map(\.reason) == JSONError.Reason.allCases)
        #expect(Set(refusals.map(\.message)).count == JSONError.Reason.allCases.count)
    }
}
