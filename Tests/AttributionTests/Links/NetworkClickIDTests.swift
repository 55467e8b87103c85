import Attribution
import Testing

@Suite("Click ids of ad networks")
struct NetworkClickIDTests {
    private static func ids(_ query: String) -> [QueryItem] {
        var ids = NetworkClickIDs()
        ids.add(from: QueryItem.items(ofQuery: query[...].utf8))
        return ids.items
    }

    @Test("each of the 22 parameters is found in a query, in either case, and no other one")
    func names() {
        let names = NetworkClickIDs.parameters.map(\.name)
        #expect(Set(names).count == 22 && names.count == 22)
        for name in names {
            for written in [name, name.uppercased(), name.lowercased()] {
                let query = "utm_source=x&\(written)=aB9_-.%C3%A9&x\(name)=1&\(name)x=1"
                #expect(Self.ids(query) == [QueryItem(name: name, value: "aB9_-.é")], "\(written)")
            }
        }
        #expect(Self.ids("clid=1&gcli=1&gclid&fbclid=&utm_campaign=x&=1").isEmpty)
    }

    @Test("a value is percent-decoded, but keeps plus signs; the first value that is not empty counts")
    func values() {
        #expect(Self.ids("gclid=A%2Fb%3D%3D&GCLID=second&gclid=third").map(\.value) == ["A/b=="])
        // A plus sign in the query of a form means a blank, which no click id has.
        #expect(Self.ids("tblci=GiA+b%2Bc").map(\.value) == ["GiA+b+c"])
        #expect(Self.ids("gclid=&gclid=a").map(\.value) == ["a"])
    }

    @Test("a query's ids after the sixteenth, and ids of more than 512 bytes, are left out")
    func limits() {
        let names = NetworkClickIDs.parameters.map(\.name)
        let all = Self.ids(names.map { "\($0)=1" }.joined(separator: "&"))
        #expect(all.map(\.name) == Array(names.prefix(16)))
        let (longest, tooLong) = (String(repeating: "x", count: 512), String(repeating: "é", count: 257))
        #expect(Self.ids("gclid=\(longest)&fbclid=\(longest)x&ttclid=\(tooLong)").map(\.name) == ["gclid"])
    }

    @Test(
        "a link loses only its click ids",
        arguments: [
            ("myapp://x?gclid=1", "myapp://x"), ("myapp://x?a=1&gcLid=2&b=%26&fbclid", "myapp://x?a=1&b=%26"),
            ("myapp://x?%67clid=1#gclid=2", "myapp://x#gclid=2"), ("myapp://gclid", "myapp://gclid"),
            ("myapp://x?agclid=1&&b", "myapp://x?agclid=1&&b"), ("myapp://x#?gclid=1", "myapp://x#?gclid=1"),
        ]
    )
    func removed(text: String, expected: String) {
        #expect(DeepLinkURL(stored: text).withoutClickIDs.text == expected)
    }

    @Test("an id that is added by its name is refused beyond the limits")
    func refusals() throws {
        var ids = NetworkClickIDs()
        for parameter in NetworkClickIDs.parameters.prefix(16) { try ids.add("1", of: parameter) }
        let (first, last) = (NetworkClickIDs.parameters[0], NetworkClickIDs.parameters[16])
        #expect(throws: NetworkClickIDs.Problem.tooMany) { try ids.add("1", of: last) }
        #expect(throws: Never.self) { try ids.add("2", of: first) }
        #expect(ids.items.count == 16 && ids.items[0].value == "1")
        var other = NetworkClickIDs()
        let tooLong = String(repeating: "x", count: 513)
        #expect(throws: NetworkClickIDs.Problem.tooLong) { try other.add(tooLong, of: first) }
        #expect(other.items.isEmpty)
    }
}
