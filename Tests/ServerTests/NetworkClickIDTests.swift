import Attribution
import Foundation
import HTTPServer
import Server
import Testing

/// The click ids that ad networks put on links, from the click to the app and the operator.
@Suite("Click ids of ad networks, over HTTP")
struct NetworkClickIDTests {
    private static let value = "EAIaIQ-obChMI_7781.Zz"

    private func service(_ policy: ClickIDPolicy = .keep) async throws -> TestService {
        var settings = LinkScenario.shop
        settings.clickIDs = policy
        settings.defaultLink = DeepLinkURL(stored: "myapp://home")
        let service = try await TestService(settings)
        try await service.makeLink(
            #"{"slug":"a","destination":"myapp://x","campaign_key":"S","pass_parameters":["gclid"]}"#
        )
        return service
    }

    private func clickIDs(_ body: String, _ service: TestService, fields: [String: String] = [:]) async
        -> String?
    {
        service.watch.click = nil
        let answer = await service.click(#"{"fingerprint":"\#(hex)",\#(body)}"#, fields: fields)
        #expect(answer.status == 201, "\(answer.text)")
        return service.watch.click?.facts.clickIDs
    }

    @Test("are taken from the body, the tapped address and the deep link; the first value of a name counts")
    func sources() async throws {
        let service = try await service()
        #expect(
            await clickIDs(#""link":"a","query":"?gclid=\#(Self.value)&x=1""#, service)
                == #"{"gclid":"\#(Self.value)"}"#
        )
        #expect(
            await clickIDs(
                #""deeplink_url":"myapp://x?ScCid=s%2B1&gclid=c","query":"fbclid=b&gclid=q","click_ids":{"gclid":"p"}"#,
                service
            ) == #"{"gclid":"p","fbclid":"b","ScCid":"s+1"}"#
        )
        #expect(
            await clickIDs(
                #""deeplink_url":"myapp://y","click_ids":{"epik":"","yclid":null,"new":7,"SCCID":"\u0000\"é<"}"#,
                service,
                fields: service.bearer(.server)
            ) == "{\"ScCid\":\"\\u0000\\\"é\\u003c\"}"
        )
        #expect(await clickIDs(#""deeplink_url":"myapp://z","click_ids":{}"#, service) == nil)
        let source = #""deeplink_url":"myapp://w","click_ids":{"ttclid":"t"}"#
        #expect(await clickIDs(source, service) == #"{"ttclid":"t"}"#)
        #expect(service.watch.click?.facts.source == .tiktok)
    }

    @Test("are recorded from the address of a link's page by the store button, without the script")
    func landingPage() async throws {
        let service = try await service()
        let page = await service.open("a", query: "gclid=\(Self.value)&dclid=d")
        #expect(page.status == 200)
        _ = await service.open("a", query: "al_go=store&gclid=\(Self.value)&dclid=d%2F")
        #expect(service.watch.click?.facts.clickIDs == #"{"gclid":"\#(Self.value)","dclid":"d/"}"#)
    }

    @Test("the script for other sites has the list of names in place of its placeholder")
    func script() async throws {
        let script = try await service().send(.get, "/v1/collector.js").text
        #expect(script.contains("(?:gclid|gbraid|") && script.contains("|mc_cid|mc_eid)$/i"))
        #expect(!script.contains("CLICK_ID_NAMES"))
    }

    @Test(
        "a wrong member of click_ids is refused by its name, and no click is recorded",
        arguments: [
            (#"{"gclid":7}"#, "click_ids.gclid"), (#"{"fbclid":{}}"#, "click_ids.fbclid"),
            (#"{"gclid":"\#(String(repeating: "x", count: 513))"}"#, "click_ids.gclid"),
            (#"{"gclid":"\#(String(repeating: "é", count: 257))"}"#, "click_ids.gclid"),
            ("[]", "click_ids"), (#""gclid=1""#, "click_ids"),
            (
                "{"
                    + NetworkClickIDs.parameters.prefix(17).map { #""\#($0.name)":"1""# }.joined(
                        separator: ","
                    )
                    + "}", "click_ids"
            ),
        ]
    )
    func refused(ids: String, field: String) async throws {
        let service = try await service()
        for rest in ["", #","consent":false"#] {
            let answer = await service.click(
                #"{"link":"a","fingerprint":"\#(hex)","click_ids":\#(ids)\#(rest)}"#
            )
            #expect(answer.isRefusal(400, "INVALID_FIELD", field: field), "\(answer.text)")
        }
        #expect(try await service.totals()[.clicks] ?? 0 == 0)
    }

    @Test("values at the limits are accepted; a query's values beyond the limits are left out")
    func limits() async throws {
        let service = try await service()
        let longest = String(repeating: "x", count: 512)
        let names = NetworkClickIDs.parameters.map(\.name)
        let sixteen = names.prefix(16).map { #""\#($0)":"\#(longest)""# }.joined(separator: ",")
        let kept = await clickIDs(
            #""link":"a","click_ids":{\#(sixteen)},"query":"mc_eid=1""#,
            service
        )
        #expect(kept == "{\(sixteen)}")
        let query = names.map { "\($0)=\(longest.prefix(300))" }.joined(separator: "&")
        let ofQuery = await clickIDs(#""deeplink_url":"myapp://q","query":"\#(query)""#, service)
        #expect(ofQuery?.components(separatedBy: #"":""#).count == 17, "\(ofQuery ?? "nil")")
        let long = await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://q","query":"\#(String(repeating: "x", count: 8193))"}"#
        )
        #expect(long.isRefusal(400, "INVALID_FIELD", field: "query"))
    }

    @Test(
        "are not kept without consent, under Global Privacy Control, or if the app's setting is off",
        arguments: ["consent", "gpc", "off"]
    )
    func notKept(reason: String) async throws {
        let service = try await service(reason == "off" ? .off : .keep)
        let body =
            #""link":"a","query":"gclid=\#(Self.value)&fbclid=\#(Self.value)","click_ids":{"dclid":"\#(Self.value)"}"#
        let consent = reason == "consent" ? #","consent":false"# : ""
        let fields = reason == "gpc" ? ["Sec-GPC": "1"] : [:]
        let ids = await clickIDs(body + consent, service, fields: fields)
        #expect(ids == nil)
        #expect(service.watch.click?.facts.source == .facebook)
        if reason != "off" {
            let stated = #""deeplink_url":"myapp://z?gclid=\#(Self.value)&a=1""#
            #expect(await clickIDs(stated + consent, service, fields: fields) == nil)
            #expect(service.watch.click?.facts.destination.text == "myapp://z?a=1")
        }
        let export = await service.admin(.get, "/export/clicks.ndjson").text
        #expect(export.contains(#""click_ids":null"#), "\(export)")
        // The operator's own list of parameters decides what a link passes to the app, unless the visitor refused.
        #expect(export.contains(Self.value) == (reason == "off"))
    }

    @Test(
        "reach the app in the metadata only under the setting `answer`, and replace no other member"
    )
    func answers() async throws {
        func metadata(_ policy: ClickIDPolicy, _ own: String?) async throws -> String {
            let service = try await service(policy)
            let member = own.map { #","metadata":\#($0)"# } ?? ""
            let body =
                #"{"deeplink_url":"myapp://x","fingerprint":"\#(hex)","click_ids":{"gclid":"\#(Self.value)"}\#(member)}"#
            let click = await service.click(body)
            let match = await service.check(hex)
            #expect(match.member("click_id") == click.member("click_id") && match.member("click_id") != nil)
            let text = match.text
            guard let start = text.range(of: #""metadata":"#) else { return "" }
            return String(text[start.upperBound...].dropLast())
        }
        let ids = #""click_ids":{"gclid":"\#(Self.value)"}"#
        #expect(try await metadata(.keep, nil) == "")
        #expect(try await metadata(.off, #"{"a":1}"#) == #"{"a":1}"#)
        #expect(try await metadata(.keep, #"{"a":1}"#) == #"{"a":1}"#)
        #expect(try await metadata(.answer, nil) == "{\(ids)}")
        #expect(try await metadata(.answer, "{ }") == "{\(ids)}")
        #expect(
            try await metadata(.answer, #"{"a": 1.0, "b":[ {} ] }"#) == #"{"a": 1.0, "b":[ {} ] ,\#(ids)}"#
        )
        #expect(try await metadata(.answer, #"{"click_ids":"mine"}"#) == #"{"click_ids":"mine"}"#)
        #expect(try await metadata(.answer, #"{"x":{"click_ids":1}}"#) == #"{"x":{"click_ids":1},\#(ids)}"#)
    }

    /// The members of a response that released clients read; a member of another type makes them fail.
    private struct ClientAnswer: Decodable {
        let status: String
        let url: String?
        let campaignKey: String?
        let jid: String?
        let clickTimestamp: String?
        let attributionWindow: Int64?
        let metadata: [String: ClientValue]?
    }

    private enum ClientValue: Decodable, Equatable {
        case text(String)
        case object([String: ClientValue])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .object(try container.decode([String: ClientValue].self))
            }
        }
    }

    @Test("a released client, which converts names from snake case, reads the answer as before")
    func releasedClient() async throws {
        let service = try await service(.answer)
        #expect(
            await clickIDs(#""link":"a","jid":"j1","click_ids":{"gclid":"1"},"metadata":{"a":"b"}"#, service)
                != nil
        )
        let match = await service.check(hex)
        #expect(match.member("click_id")?.hasPrefix("clk_") == true)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let answer = try decoder.decode(ClientAnswer.self, from: Data(match.body))
        #expect(answer.status == "match" && answer.url == match.member("url") && answer.jid == "j1")
        #expect(
            answer.campaignKey == "S" && answer.clickTimestamp != nil && answer.attributionWindow == 86_400
        )
        #expect(answer.metadata == ["a": .text("b"), "click_ids": .object(["gclid": .text("1")])])
    }

    @Test("a match of the campaign alone names no click")
    func campaignOnly() async throws {
        let service = try await service(.answer)
        service.watch.claim = { claim in
            Claim(
                click: claim.click,
                claimedAt: claim.claimedAt,
                method: claim.method,
                confidence: claim.confidence,
                competingClicks: claim.competingClicks,
                isCampaignOnly: true
            )
        }
        #expect(await clickIDs(#""link":"a","click_ids":{"gclid":"g"}"#, service) != nil)
        let match = await service.check(hex)
        #expect(match.flag("campaignOnly") == true)
        #expect(!match.text.contains("click_id") && !match.text.contains("metadata"), "\(match.text)")
    }

    @Test("are visible to operators in explain, exports, held and on the launch's page until they are erased")
    func operators() async throws {
        let service = try await service()
        let stored = #"{"gclid":"\#(Self.value)"}"#
        #expect(await clickIDs(#""link":"a","query":"gclid=\#(Self.value)""#, service) == stored)
        let id = try #require(
            await service.admin(.get, "/export/clicks.csv").text.firstMatch(of: /clk_\w+/)
        ).output
        let browser = await DashboardBrowser.signedIn(to: service)
        for isMatched in [false, true] {
            if isMatched { #expect(await service.check(hex).member("click_id") == String(id)) }
            let explained = await service.admin(.get, "/checks/\(id)/explain").text
            #expect(explained.contains(#""click_ids":\#(stored)"#), "\(explained)")
            let page = await browser.get("/launches/\(id)").text
            #expect(page.contains("gclid \(Self.value) (Google Ads)"), "\(page)")
        }
        let held = #"{"click_id":"\#(id)"}"#
        #expect(await service.admin(.post, "/held", held).text.contains(Self.value))
        #expect(await service.admin(.get, "/export/clicks.ndjson").text.contains(Self.value))
        #expect(await service.admin(.post, "/erase", held).status == 200)
        #expect(await !service.admin(.post, "/held", held).text.contains(Self.value))
        #expect(await !service.admin(.get, "/export/clicks.ndjson").text.contains(Self.value))
    }

    @Test(
        "an app's setting is changed by the admin API and in the dashboard, recorded, and refused if unknown"
    )
    func setting() async throws {
        let service = try await service()
        let path = "/apps/\(service.app.text)"
        #expect(await service.admin(.get, path).member("click_ids") == "keep")
        for (sent, set) in [(#""off""#, "off"), (#""answer""#, "answer"), ("null", "keep")] {
            let answer = await service.admin(.patch, path, #"{"click_ids":\#(sent)}"#)
            #expect(answer.status == 200 && answer.member("click_ids") == set, "\(answer.text)")
        }
        for wrong in [#""on""#, "7", #""""#, "true"] {
            let answer = await service.admin(.patch, path, #"{"click_ids":\#(wrong)}"#)
            #expect(answer.isRefusal(422, "INVALID_FIELD", field: "click_ids"), "\(answer.text)")
        }
        let browser = await DashboardBrowser.signedIn(to: service)
        func post(_ value: String) async -> Answer {
            let shown = PageMarkup(await browser.get("/settings").text).hidden("shown") ?? ""
            let fields = "app=\(service.app.text)&shown=\(shown)&click_ids=\(value)"
            return await browser.post("/settings/apps", "token=\(await browser.formToken())&\(fields)")
        }
        #expect(await post("answer").status == 303)
        #expect(await post("on").status == 400)
        #expect(await service.admin(.get, path).member("click_ids") == "answer")
        let page = await browser.get("/settings").text
        #expect(page.contains(#"<option value="answer" selected"#), "\(page)")
        let audit = await service.admin(.get, "/audit", query: "action=app.set").text
        #expect(audit.contains(#""before":{"click_ids":"keep"},"after":{"click_ids":"answer"}"#), "\(audit)")
    }
}
