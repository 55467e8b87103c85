import Attribution
import HTTPServer
import JSON
import Server
import Testing

private let id = "6D92078A-8246-4BA4-AE5B-76104861E7DC"
private let plainNoMatch = #"{"status":"no_match","matched":false}"#

private func click(_ members: String, link: String = "myapp://promo/item") -> String {
    #"{"fingerprint":"\#(hex)","deeplink_url":"\#(link)",\#(members)"campaign_key":"S"}"#
}

@Suite("Advertising ids")
struct AdvertisingIDCallTests {
    @Test(
        "a launch matches a click with the same advertising id, in upper or lower case",
        arguments: AdvertisingID.Kind.allCases,
        ["query", "header", "body"]
    )
    func everyWay(kind: AdvertisingID.Kind, way: String) async throws {
        let service = try await TestService()
        let name = kind.rawValue
        #expect(await service.click(click(#""\#(name)":"\#(id.lowercased())","#)).status == 201)
        let other = AdvertisingID.Kind.allCases.first { $0 != kind }?.rawValue ?? ""
        #expect(await service.check(query: "\(other)=\(id)").text == plainNoMatch)
        let nobodys = String(repeating: "9", count: 64)
        let reply =
            switch way {
            case "query": await service.check(query: "fingerprint=\(nobodys)&\(name)=\(id)")
            case "header": await service.check(nobodys, fields: [kind.headerName: id])
            default: await service.resolve(#"{"\#(name)":"\#(id)"}"#)
            }
        #expect(reply.member("attributionMethod") == name)
        #expect(reply.number("confidence") == 0.95)
        #expect(reply.flag("guaranteed") == false)
    }

    @Test("an advertising id in the link is read, too, and leads no other app and no test key to the click")
    func fromLink() async throws {
        let service = try await TestService()
        #expect(await service.click(click("", link: "myapp://promo/item?gps_adid=\(id)")).status == 201)
        let other = try await service.addApp(App.Settings(name: "Other"))
        #expect(await service.check(query: "gaid=\(id)", fields: other.bearer).text == plainNoMatch)
        #expect(await service.check(query: "gaid=\(id)", key: .test).member("status") == "no_match")
        #expect(await service.check(query: "gaid=\(id)").member("attributionMethod") == "gaid")
    }

    @Test(
        "an advertising id that is withheld, not filled in or malformed is ignored, and the click is accepted",
        arguments: ["00000000-0000-0000-0000-000000000000", "{idfa}", "", "nonsense"]
    )
    func notThere(text: String) async throws {
        let service = try await TestService()
        #expect(await service.click(click(#""idfa":"\#(text)","#)).status == 201)
        #expect(service.watch.click?.evidence.advertisingIDs == [])
    }

    @Test("a click has one id of each kind, from body or link; IDFA and GAID with one text have two hashes")
    func keyed() async throws {
        let service = try await TestService()
        let link = "myapp://promo/item?idfa=11111111-2222-3333-4444-555555555555&gaid=\(id)"
        await service.click(click(#""idfa":"\#(id)","#, link: link))
        let ids = try #require(service.watch.click?.evidence.advertisingIDs)
        #expect(ids.map(\.kind) == [.idfa, .gaid])
        #expect(ids[0].key != ids[1].key)
    }
}
