import Attribution
import Testing

/// Tests endpoints as operators describe them, request bodies, and templates.
@Suite("Endpoints of postbacks")
struct PostbackDraftTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let app = AppID(high: 1, low: 1)

    private static func fields(_ set: (inout PostbackDraft) -> Void) -> [String] {
        var draft = PostbackDraft()
        (draft.url, draft.types) = ("https://example.com/hook", ["match.created"])
        set(&draft)
        do throws(FieldProblems) {
            let (keys, random) = (PostbackSigningTests.keys, PostbackSigningTests.random)
            _ = try draft.endpoint(of: app, keys: keys, at: now, random: random)
            return []
        } catch {
            return error.all.map(\.field)
        }
    }

    @Test(
        "accept URLs that can be called",
        arguments: [
            "https://example.com", "https://example.com:8443/a?b=c", "http://10.0.0.1:9000/",
            "https://[2001:db8::1]/x",
            "https://example.com/{click_id}?s={source}", "https://example.com?c={gclid}",
        ]
    )
    func goodURL(url: String) { #expect(Self.fields { $0.url = url } == []) }

    @Test(
        "refuse URLs that cannot be called",
        arguments: [
            "", "example.com", "ftp://example.com/", "https://", "https://user:pw@example.com/",
            "https://example.com/#x",
            "https://example.com/a b", "https://{source}.example.com/", "{source}://example.com/",
            "https://example.com:{sequence}/", "https://example.com/{nothing}", "https://exa\\mple.com/",
            "javascript:x",
        ]
    )
    func badURL(url: String) { #expect(Self.fields { $0.url = url } == ["url"]) }

    @Test("types, bodies and header fields are validated together")
    func otherFields() {
        #expect(Self.fields { $0.types = ["link.*", "match.created"] } == [])
        #expect(Self.fields { $0.types = ["match.creatd", "*"] } == ["types", "types"])
        #expect(Self.fields { $0.types = [] } == ["types"])
        #expect(Self.fields { $0.body = #"{"id":"{id}"}"# } == [])
        #expect(Self.fields { $0.body = #"{"id":"{idd}"}"# } == ["body"])
        #expect(Self.fields { $0.body = #"{"conf":{confidence},"ok":[{verified},"\"{id}"]}"# } == [])
        for value in ["{source}", "-{amount}", "1{sequence}", #""\u000{sequence}""#] {
            let body = "{\"a\":\(value)}"
            #expect(Self.fields { $0.body = body } == ["body"], "\(body)")
        }
        #expect(Self.fields { $0.headers = ["Access-Token: x", "A: 1", "B: 2", "C: 3"] } == [])
        #expect(Self.fields { $0.headers = ["A: 1", "B: 2", "C: 3", "D: 4", "E: 5"] } == ["headers"])
        #expect(Self.fields { $0.headers = ["Host: x"] } == ["headers"])
        #expect(Self.fields { $0.headers = ["A: x\r\nB: y"] } == ["headers"])
        #expect(Self.fields { ($0.url, $0.types) = ("x", []) } == ["url", "types"])
    }

    @Test("header fields are sent without the line breaks around them")
    func lineBreaks() throws {
        var draft = PostbackDraft()
        (draft.url, draft.types) = ("https://example.com/hook", ["match.created"])
        draft.headers = ["A: 1\r", "\r\nB: 2\n"]
        let (keys, random) = (PostbackSigningTests.keys, PostbackSigningTests.random)
        let (endpoint, _) = try draft.endpoint(of: Self.app, keys: keys, at: Self.now, random: random)
        let fields = try #require(endpoint.fields(keys))
        #expect(fields.map(\.name) == ["A", "B"])
        #expect(fields.map(\.value) == ["1", "2"])
    }

    @Test("the body of a match has what a receiver needs, and nothing about the visitor")
    func matchBody() {
        var facts = Click.Facts(
            app: Self.app,
            destination: DeepLinkURL(
                stored: "shop://item/1?utm_source=mail&utm_source=x&utm_medium=a%20b&q=1&gclid=Ab"
            ),
            campaignKey: CampaignKey("SUMMER"),
            journeyID: JourneyID("j1") ?? JourneyID(at: Self.now, random: PostbackSigningTests.random),
            clickedAt: Self.now,
            recordedAt: Self.now,
            window: .standard
        )
        (facts.clickIDs, facts.variant) = (#"{"gclid":"Ab"}"#, "b")
        // The metadata contain the link's own parameters.
        facts.metadata = #"{"utm_campaign":"May","utm_source":"link","size":4}"#
        let click = Click(id: ClickID(high: 1, low: 2), facts: facts)
        let at = Self.now.advanced(byMilliseconds: 90_500)
        func claim(_ isCampaignOnly: Bool) -> Claim {
            Claim(
                click: click,
                claimedAt: at,
                method: .fingerprint,
                confidence: 0.91234,
                competingClicks: 2,
                isCampaignOnly: isCampaignOnly
            )
        }
        var launch = CheckFacts(at: at, outcome: .match)
        launch.platform = .android
        let fact = PostbackFact.match(claim(false), launch, withClickIDs: true)
        #expect(fact.type == .matchCreated)
        let start =
            #"{"campaign_key":"SUMMER","source":"direct","platform":"unknown","clicked_at":"2023-11-14T22:13:20.000Z","#
        let middle =
            #""click_id":"\#(click.id.text)","variant":"b","journey_id":"j1","url":"shop:"#
        let utm =
            #""utm":{"utm_source":"mail","utm_medium":"a b","utm_campaign":"May"},"click_ids":{"gclid":"Ab"},"#
        let match = #""method":"fingerprint","confidence":0.9123,"guaranteed":false,"competing_clicks":2,"#
        let end =
            #""launch_platform":"android","matched_at":"2023-11-14T22:14:50.500Z","seconds_to_install":90}"#
        #expect(fact.data.hasPrefix(start + middle))
        #expect(fact.data.hasSuffix(utm + match + end))
        #expect(!PostbackFact.match(claim(false), launch, withClickIDs: false).data.contains("gclid"))
        // A match of the campaign alone identifies no click.
        let only = PostbackFact.match(claim(true), launch, withClickIDs: true)
        #expect(only.type == .matchCampaignOnly)
        for word in ["clk_", "j1", "shop:", "gclid"] { #expect(!only.data.contains(word)) }
    }

    @Test("a body has the event's type, time, app and data, and the delivery's number")
    func body() {
        let event = OutboxEvent(
            id: OutboxEventID(high: 1_700_000_000_000 << 16, low: 1),
            type: "x.y",
            data: #"{"a":1}"#
        )
        let body = String(decoding: event.body(app: Self.app, isTest: true, sequence: 7), as: UTF8.self)
        let app = Self.app.text
        #expect(
            body
                == #"{"type":"x.y","timestamp":"2023-11-14T22:13:20.000Z","app":"\#(app)","test":true,"sequence":7,"data":{"a":1}}"#
        )
    }

    @Test("a macro's value is encoded for its position; a missing value is empty, or null outside of quotes")
    func macros() {
        let data =
            #"{"source":"a b&c=\"d\"","amount":"1.5","guaranteed":true,"utm":{"utm_source":"ü"},"click_ids":{"gclid":"X/y"},"metadata":{"name":"no"}}"#
        let event = OutboxEvent(
            id: OutboxEventID(high: 1_700_000_000_000 << 16, low: 1),
            type: "event.received",
            data: data
        )
        let values = PostbackTemplate.Values(event, app: Self.app, sequence: 3)
        let url =
            "https://e.com/{source}?u={utm_source}&g={gclid}&n={name}&t={timestamp_seconds}&s={sequence}"
        #expect(
            PostbackTemplate.url(url, values)
                == "https://e.com/a%20b%26c%3D%22d%22?u=%C3%BC&g=X%2Fy&n=&t=1700000000&s=3"
        )
        let body = #"{"s":"{source}","v":{amount},"g":{guaranteed},"o":{"a":{}}}"#
        #expect(PostbackTemplate.body(body, values) == #"{"s":"a b&c=\"d\"","v":1.5,"g":true,"o":{"a":{}}}"#)
        // Most macros have no value here. An earlier version accepted the macro of a text (`source`) without quotes.
        let rest = #"{"c":{confidence},"m":"{method}","s":{source},"q":"\"{campaign_key}","j":{journey_id}}"#
        #expect(
            PostbackTemplate.body(rest, values) == #"{"c":null,"m":"","s":"a b&c=\"d\"","q":"\"","j":null}"#
        )
        #expect(PostbackTemplate.unknownName(in: "{clickid}") == "clickid")
        #expect(PostbackTemplate.unknownName(in: body) == nil)
    }

    @Test(
        "a value cannot lead a request to another path of the receiver",
        arguments: ["..", ".", "../a", "a/.."]
    )
    func dotSegments(value: String) {
        let event = OutboxEvent(
            id: OutboxEventID(high: 1_700_000_000_000 << 16, low: 1),
            type: "event.received",
            data: #"{"campaign_key":"\#(value)","source":"v1.2..3"}"#
        )
        let values = PostbackTemplate.Values(event, app: Self.app, sequence: 3)
        let url = PostbackTemplate.url("https://e.com/x/{campaign_key}/{source}?k={campaign_key}", values)
        #expect(url == "https://e.com/x//v1.2..3?k=\(value.split(separator: "/").joined(separator: "%2F"))")
    }

    @Test("a value in a text of a body keeps the combining mark at its start, and the character at its end")
    func combiningMarks() {
        let event = OutboxEvent(
            id: OutboxEventID(high: 1_700_000_000_000 << 16, low: 1),
            type: "event.received",
            data: "{\"campaign_key\":\"\u{301}a\u{600}\"}"
        )
        let values = PostbackTemplate.Values(event, app: Self.app, sequence: 3)
        let body = PostbackTemplate.body(#"{"k":"{campaign_key}"}"#, values)
        #expect(body.utf8.elementsEqual("{\"k\":\"\u{301}a\u{600}\"}".utf8))
    }

    @Test("a template's request is unsigned, and the endpoint's header fields are stored encrypted")
    func template() throws {
        var draft = PostbackDraft()
        draft.url = "https://example.com/{type}?id={id}"
        (draft.types, draft.headers) = (["match.created"], ["Authorization: Bearer x"])
        let (keys, random) = (PostbackSigningTests.keys, PostbackSigningTests.random)
        let (endpoint, _) = try draft.endpoint(of: Self.app, keys: keys, at: Self.now, random: random)
        #expect(endpoint.isTemplate)
        #expect(!String(decoding: endpoint.headers, as: UTF8.self).contains("Bearer"))
        let event = OutboxEvent(id: OutboxEventID(high: 5, low: 6), type: "match.created", data: "{}")
        let call = try #require(PostbackCall(event, 1, to: endpoint, keys: keys, at: Self.now))
        #expect(!call.isPost && call.body.isEmpty && call.baseString == nil)
        #expect(call.url == "https://example.com/match.created?id=\(event.id.text)")
        #expect(call.fields.map(\.name) == ["Authorization"] && call.fields.map(\.value) == ["Bearer x"])
    }

    @Test("every type has a sample that is marked as a sample", arguments: PostbackType.allCases)
    func sample(type: PostbackType) {
        #expect(PostbackSample.data(type, at: Self.now).hasPrefix(#"{"sample":true"#))
        #expect(PostbackSample.data(type, at: Self.now).hasSuffix("}"))
    }
}
