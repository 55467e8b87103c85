import Attribution
import Testing

@Suite("An advertising id")
struct AdvertisingIDTests {
    private static let text = "6D92078A-8246-4BA4-AE5B-76104861E7DC"

    @Test("is a UUID in either case, with or without white space around it")
    func cases() throws {
        let id = try #require(AdvertisingID(Self.text, as: .idfa))
        for text in [Self.text.lowercased(), "6d92078A-8246-4Ba4-aE5B-76104861E7dc", " \(Self.text)\n"] {
            #expect(AdvertisingID(text, as: .idfa) == id)
        }
        #expect(AdvertisingID(Self.text, as: .gaid) != id)
    }

    @Test("differs if any digit differs")
    func digits() throws {
        let id = try #require(AdvertisingID(Self.text, as: .gaid))
        for index in Self.text.indices where Self.text[index] != "-" {
            var other = Self.text
            other.replaceSubrange(index...index, with: Self.text[index] == "0" ? "1" : "0")
            let changed = try #require(AdvertisingID(other, as: .gaid))
            #expect(changed != id)
        }
    }

    @Test("of zeros alone identifies no one, because its owner has limited ad tracking")
    func withheld() {
        let zeros = "00000000-0000-0000-0000-000000000000"
        #expect(AdvertisingID.reading(zeros, as: .idfa) == .withheld)
        #expect(AdvertisingID(zeros, as: .idfa) == nil)
        #expect(AdvertisingID("00000000-0000-0000-0000-000000000001", as: .idfa) != nil)
        #expect(AdvertisingID("10000000-0000-0000-0000-000000000000", as: .idfa) != nil)
    }

    @Test(
        "is refused in any other form",
        arguments: [
            "", "-", "----", "{idfa}", "__GAID__", "6D92078A82464BA4AE5B76104861E7DC",
            "6D92078A-8246-4BA4-AE5B-76104861E7D", "6D92078A-8246-4BA4-AE5B-76104861E7DCC",
            "6D92078A-8246-4BA4-AE5B-76104861E7DG", "6D92078A-8246-4BA4-AE5B76104861E7DC-",
            "6D92078A-8246-4BA4-AE5B-76104861E7DC-", "{6D92078A-8246-4BA4-AE5B-76104861E7DC}",
            "6D92078A‐8246‐4BA4‐AE5B‐76104861E7DC", "null",
        ]
    )
    func malformed(text: String) { #expect(AdvertisingID.reading(text, as: .gaid) == .malformed) }

    @Test("is hashed under the server key, separately by app, by test traffic and by kind")
    func keyed() throws {
        let key = try #require(ServerKey(bytes: Array(0..<32)))
        let idfa = try #require(AdvertisingID(Self.text, as: .idfa))
        let gaid = try #require(AdvertisingID(Self.text, as: .gaid))
        let hashes = [
            key.advertisingID(app: TestValues.app, isTest: false, id: idfa),
            key.advertisingID(app: TestValues.app, isTest: true, id: idfa),
            key.advertisingID(app: TestValues.otherApp, isTest: false, id: idfa),
            key.advertisingID(app: TestValues.app, isTest: false, id: gaid),
        ]
        #expect(Set(hashes).count == 4)
        let lowered = try #require(AdvertisingID(Self.text.lowercased(), as: .idfa))
        #expect(key.advertisingID(app: TestValues.app, isTest: false, id: lowered) == hashes[0])
    }

    @Test("does not appear in descriptions and dumps")
    func hidden() throws {
        let id = try #require(AdvertisingID(Self.text, as: .idfa))
        var evidence = LaunchEvidence()
        evidence.add(id)
        var dumped = ""
        dump(evidence, to: &dumped)
        let shown = "\(id) \(String(reflecting: id)) \(evidence) \(dumped)"
        #expect(!shown.uppercased().contains("6D92") && !shown.contains("\(0x6D92_078A_8246_4BA4 as UInt64)"))
    }

    @Test("is read from the parameters that ad networks add to a link, unless it is a placeholder")
    func links() throws {
        let idfa = try #require(AdvertisingID(Self.text, as: .idfa))
        let gaid = try #require(AdvertisingID(Self.text, as: .gaid))
        func ids(_ query: String) -> [AdvertisingID] {
            AdvertisingID.ids(in: QueryItem.items(ofQuery: query[...].utf8))
        }
        for name in ["idfa", "%24idfa"] { #expect(ids("a=b&\(name)=\(Self.text)") == [idfa]) }
        for name in ["gaid", "aaid", "$aaid", "advertising_id", "gps_adid"] {
            #expect(ids("\(name)=\(Self.text.lowercased())&x=1") == [gaid])
        }
        #expect(ids("idfa={idfa}&idfa=\(Self.text)&gaid=\(Self.text)&gaid=1") == [idfa, gaid])
        #expect(ids("idfa=00000000-0000-0000-0000-000000000000&id=\(Self.text)").isEmpty)
    }
}
