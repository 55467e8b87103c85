import Attribution
import Foundation
import HTTPServer
import Testing

/// The form that creates and changes links.
@Suite("The form of links in the dashboard")
struct DashboardLinkFormTests {
    private typealias Texts = [String: String]

    private let service: TestService
    private let browser: DashboardBrowser
    private let token: String

    init() async throws {
        service = try await TestService(LinkScenario.shop)
        browser = await DashboardBrowser.signedIn(to: service)
        token = await browser.formToken()
    }

    /// A valid text for every field.
    private static let whole: Texts = [
        "slug": "go/summer25", "title": "Yaz", "destination": "/promo/item", "ios_destination": "myapp://ios",
        "android_destination": "myapp://android", "desktop_url": "https://shop.example/desk",
        "ios_fallback": "https://shop.example/ios", "android_fallback": "https://shop.example/android",
        "huawei_fallback": "https://shop.example/huawei", "campaign_key": "SUMMER25", "source": "instagram",
        "utm_source": "ig", "utm_medium": "social", "utm_campaign": "c", "utm_term": "t", "utm_content": "x",
        "metadata": #"{"offer":[1,2.50],"é":"b"}"#, "jid": "j_own", "attribution_window_seconds": "7200",
        "expires_at": "2027-01-31T18:00", "maximum_clicks": "100", "variants": "a 1 /a\nb 3 myapp://b",
        "referral_code": "AYSE", "preview_title": "Up to 40 %", "preview_description": "Two weeks",
        "preview_image": "https://cdn.example/p.png", "pasteboard": "true",
        "pass_parameters": "gclid, fbclid",
        "tags": "a, b c", "qr_foreground": "#112233", "qr_background": "#ffffee", "qr_error_correction": "Q",
    ]

    private func send(_ texts: Texts, to path: String = "/links/new") async -> Answer {
        let items = texts.merging(["token": token]) { $1 }.sorted { $0.key < $1.key }
        return await browser.post(
            path,
            QueryItem.query(of: items.map { QueryItem(name: $0.key, value: $0.value) })
        )
    }

    private func stored(_ id: String) async throws -> [String: Any] {
        let answer = await service.admin(.get, "/links/\(id)")
        #expect(answer.status == 200)
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
    }

    /// The texts in the inputs of a page's form.
    private static func inputs(of page: String) -> Texts {
        var texts: Texts = [:]
        for (number, part) in page.components(separatedBy: "<textarea ").enumerated() {
            let markup = PageMarkup(number == 0 ? part : "<textarea " + part)
            for tag in markup.tags {
                guard let name = tag.attributes["name"], tag.attributes["id"]?.hasPrefix("f-") == true
                else { continue }
                let isOff = tag.attributes["type"] == "checkbox" && tag.attributes["checked"] == nil
                texts[name] = isOff ? "" : tag.attributes["value"] ?? ""
                if tag.name == "textarea" {
                    let text = part.drop { $0 != ">" }.dropFirst()
                    let end = text.firstRange(of: "</textarea>")?.lowerBound ?? text.endIndex
                    texts[name] = PageMarkup(String(text[..<end])).text
                } else if tag.name == "select" {
                    let options = markup.tags.filter { $0.attributes["selected"] != nil }
                    texts[name] = options.last?.attributes["value"] ?? ""
                }
            }
        }
        return texts
    }

    /// The message beside an input, to which the input refers.
    private static func message(on field: String, in page: String) -> String? {
        let described = PageMarkup(page).tag(id: "f-\(field)")?.attributes["aria-describedby"] ?? ""
        guard described.split(separator: " ").contains("e-\(field)"),
            let start = page.firstRange(of: "id=\"e-\(field)\">")
        else { return nil }
        let rest = page[start.upperBound...]
        return PageMarkup(String(rest[..<(rest.firstRange(of: "</p>")?.lowerBound ?? rest.endIndex)])).text
    }

    @Test("if the service cannot store a link now, the answer has the form as it was sent, and Retry-After")
    func unavailable() async throws {
        let service = try await TestService(LinkScenario.shop, queueLimit: 1)
        let browser = await DashboardBrowser.signedIn(to: service)
        let token = await browser.formToken()
        let id = try await service.makeLink(#"{"slug":"old","destination":"/x","title":"Before"}"#)
        let edit = "/links/\(id)/edit"
        let shown = PageMarkup(await browser.get(edit).text).hidden("shown") ?? ""
        let release = service.holdWriter()
        let answers = await withTaskGroup(of: (path: String, answer: Answer).self) { group in
            for path in ["/links/new", "/links/new", edit, edit] {
                group.addTask {
                    let fields = "token=\(token)&shown=\(shown)&destination=%2Fx&title=Sent"
                    return (path, await browser.post(path, fields))
                }
            }
            // The queue has room for one write, which waits until the writer is free.
            var refused: [(path: String, answer: Answer)] = []
            while refused.count < 3, let next = await group.next() { refused.append(next) }
            release.signal()
            await group.waitForAll()
            return refused
        }
        #expect(Set(answers.map(\.path)) == ["/links/new", edit])
        for (path, answer) in answers {
            #expect(answer.status == 503 && answer.field("Retry-After") != nil, "\(path): \(answer.text)")
            #expect(Self.inputs(of: answer.text)["title"] == "Sent", "\(path)")
        }
    }

    @Test("the form has every field of links, and what it stores is what the API stores")
    func whole() async throws {
        let page = await browser.get("/links/new").text
        let names = Set(LinkField.allCases.map(\.rawValue) + ["slug"])
        #expect(Set(Self.inputs(of: page).keys) == names && Set(Self.whole.keys) == names)
        let made = await send(Self.whole)
        #expect(made.status == 303, "\(made.text)")
        let id = try #require(made.field("Location")?.split(separator: "/").last.map(String.init))
        let other = try await service.makeLink(
            ##"{"slug":"by-api","title":"Yaz","destination":"/promo/item","ios_destination":"myapp://ios","##
                + #""android_destination":"myapp://android","desktop_url":"https://shop.example/desk","#
                + #""ios_fallback":"https://shop.example/ios","android_fallback":"https://shop.example/android","#
                + #""huawei_fallback":"https://shop.example/huawei","campaign_key":"SUMMER25","source":"instagram","#
                + #""utm_source":"ig","utm_medium":"social","utm_campaign":"c","utm_term":"t","utm_content":"x","#
                + #""metadata":{"offer":[1,2.50],"é":"b"},"jid":"j_own","attribution_window_seconds":7200,"#
                + #""expires_at":"2027-01-31T18:00:00Z","maximum_clicks":100,"referral_code":"AYSE","#
                + #""variants":[{"name":"a","weight":1,"destination":"/a"},{"name":"b","weight":3,"destination":"myapp://b"}],"#
                + #""preview_title":"Up to 40 %","preview_description":"Two weeks","#
                + #""preview_image":"https://cdn.example/p.png","pasteboard":true,"pass_parameters":["gclid","fbclid"],"#
                + ##""tags":["a","b c"],"qr_foreground":"#112233","qr_background":"#ffffee","qr_error_correction":"Q"}"##
        )
        let own = ["id", "slug", "url", "created_at", "updated_at"]
        let (first, second) = (
            try await stored(id).filter { !own.contains($0.key) },
            try await stored(other).filter { !own.contains($0.key) }
        )
        #expect(NSDictionary(dictionary: first) == NSDictionary(dictionary: second))

        // The form of the stored link, sent back as it is, changes nothing.
        let edit = await browser.get("/links/\(id)/edit").text
        let filled = Self.inputs(of: edit)
        #expect(filled == Self.whole.filter { $0.key != "slug" })
        let shown = PageMarkup(edit).hidden("shown") ?? ""
        service.clock.advance(seconds: 1)
        let saved = await send(filled.merging(["shown": shown]) { $1 }, to: "/links/\(id)/edit")
        #expect(saved.field("Location") == "/links/\(id)", "\(saved.text)")
        let again = try await stored(id).filter { !own.contains($0.key) }
        #expect(NSDictionary(dictionary: first) == NSDictionary(dictionary: again))
    }

    @Test("the smallest form makes a link with a random slug")
    func smallest() async throws {
        let blank = Self.whole.mapValues { _ in " " }.merging(["slug": "", "destination": "/x"]) { $1 }
        for texts in [["destination": "/x"], blank] {
            let made = await send(texts)
            #expect(made.status == 303, "\(made.text)")
            let id = try #require(made.field("Location")?.split(separator: "/").last.map(String.init))
            #expect((try await stored(id)["slug"] as? String)?.count == 11)
        }
    }

    @Test(
        "a wrong text is refused beside its field, and all entered texts stay",
        arguments: [
            ("slug", "a b", "single slashes"), ("slug", "admin/x", "choose another slug"),
            ("destination", "javascript:alert(1)", "run code"),
            ("destination", "https://evil.example/x", "--web-host"),
            ("destination", "/a/../x", "destination"), ("destination", "other://x", "none of the app's"),
            ("ios_destination", "myapp:///x", "ios_destination"),
            ("desktop_url", "http://shop.example/", "https://"),
            ("android_fallback", "https://evil.example/", "web hosts"),
            ("title", String(repeating: "x", count: 256), "shorten"),
            ("metadata", "[1]", "JSON object"), ("metadata", #"{"a":"#, "JSON object"),
            ("attribution_window_seconds", "59", "whole number"), ("maximum_clicks", "1e3", "whole number"),
            ("expires_at", "2001-01-01T00:00", "in the past"), ("expires_at", "tomorrow", "must be a time"),
            ("variants", "a 1 /a\na 2 /b", "Two variants"), ("variants", "nonsense", "A variant is"),
            ("referral_code", "a b", "letters"), ("preview_image", "http://x.example/p.png", "https"),
            ("pasteboard", "yes", "true or false"),
            ("tags", String(repeating: "t", count: 65), "64 characters"),
            ("pass_parameters", "a\u{1}", "control character"), ("qr_foreground", "red", "#1a2b3c"),
            ("qr_background", "#000000", "foreground"), ("qr_error_correction", "X", "L, M, Q or H"),
        ]
    )
    func refused(field: String, text: String, advice: String) async throws {
        let texts = Self.whole.merging([field: text]) { $1 }
        let answer = await send(texts)
        #expect(answer.status == 422)
        // Colours that do not suit each other are reported for the foreground.
        let place = field == "qr_background" ? "qr_foreground" : field
        let message = Self.message(on: place, in: answer.text)
        #expect(message?.contains(advice) == true, "\(message ?? "no message")")
        let page = PageMarkup(answer.text)
        #expect(page.tag(id: "f-\(place)")?.attributes["aria-invalid"] == "true")
        #expect(page.tags.contains { $0.attributes["href"] == "#f-\(place)" })
        // A checkbox and a choice can only show what they offer.
        let shown =
            ["pasteboard", "qr_error_correction"].contains(field) ? texts.merging([field: ""]) { $1 } : texts
        #expect(Self.inputs(of: answer.text) == shown)
        #expect(await service.admin(.get, "/links").text.contains(#""links":[]"#))
    }

    @Test("all problems are shown at once, each beside its field")
    func all() async {
        let answer = await send([
            "slug": "v1/x", "destination": "myapp:///x", "metadata": "3", "maximum_clicks": "0",
        ])
        #expect(answer.status == 422)
        for field in ["slug", "destination", "metadata", "maximum_clicks"] {
            #expect(Self.message(on: field, in: answer.text) != nil, "\(field)")
        }
        #expect(Self.message(on: "title", in: answer.text) == nil)
    }

    @Test("a taken slug is refused beside the slug")
    func takenSlug() async throws {
        try await service.makeLink(#"{"slug":"go/summer25","destination":"/x"}"#)
        let answer = await send(Self.whole)
        #expect(answer.status == 409)
        #expect(Self.message(on: "slug", in: answer.text)?.contains("choose another") == true)
        #expect(Self.inputs(of: answer.text) == Self.whole)
    }

    @Test("of several apps, the form takes the chosen one, and refuses an unknown one")
    func apps() async throws {
        let other = try await service.addApp(App.Settings(name: "Other", links: LinkScenario.shop.links))
        let page = await browser.get("/links/new?app=\(other.app.text)").text
        #expect(Self.inputs(of: page)["app"] == other.app.text)
        let made = await send(["app": other.app.text, "destination": "/x"])
        let id = try #require(made.field("Location")?.split(separator: "/").last.map(String.init))
        #expect(try await stored(id)["app"] as? String == other.app.text)
        for (app, status) in [("", 422), ("x", 422), ("app_00000000000000000000000000", 404)] {
            let answer = await send(["app": app, "destination": "/x"])
            #expect(answer.status == status)
            #expect(Self.message(on: "app", in: answer.text) != nil, "\(app)")
        }
    }

    @Test(
        "a form opened before another change is refused with entered and stored texts, and can be sent again"
    )
    func stale() async throws {
        let id = try await service.makeLink(
            #"{"slug":"a","destination":"/x","title":"First","tags":["a","b"]}"#
        )
        let form = await browser.get("/links/\(id)/edit").text
        let shown = PageMarkup(form).hidden("shown") ?? ""
        service.clock.advance(seconds: 1)
        await service.admin(.patch, "/links/\(id)", #"{"title":"Second <b>"}"#)
        let entered = Self.inputs(of: form).merging(["title": "Third", "source": "ig", "shown": shown]) { $1 }
        for sent in [entered, entered.filter { $0.key != "shown" }] {
            let answer = await send(sent, to: "/links/\(id)/edit")
            #expect(
                answer.status == 409 && answer.text.contains("Another request has changed these settings")
            )
            #expect(Self.inputs(of: answer.text) == ["title": "Third", "source": "ig"])
            #expect(answer.text.contains("Stored now: Second &lt;b&gt;"))
            #expect(try await stored(id)["title"] as? String == "Second <b>")
        }
        let page = await send(entered, to: "/links/\(id)/edit").text
        let rest = PageMarkup(page).tags.filter { $0.attributes["type"] == "hidden" }
        let hidden = Dictionary(
            rest.map { ($0.attributes["name"] ?? "", $0.attributes["value"] ?? "") },
            uniquingKeysWith: { $1 }
        )
        let again = hidden.merging(Self.inputs(of: page)) { $1 }
        #expect(await send(again, to: "/links/\(id)/edit").status == 303)
        let link = try await stored(id)
        #expect(link["title"] as? String == "Third" && link["tags"] as? [String] == ["a", "b"])
    }

    @Test("an expiry that has passed may stay, and a field that is emptied is removed")
    func change() async throws {
        let expiry = service.clock.now.advanced(byMilliseconds: 1234).iso8601
        let id = try await service.makeLink(
            #"{"slug":"a","destination":"/x","title":"T","tags":["a"],"expires_at":"\#(expiry)"}"#
        )
        service.clock.advance(seconds: 60)
        let page = await browser.get("/links/\(id)/edit").text
        let shown = PageMarkup(page).hidden("shown") ?? ""
        let texts = Self.inputs(of: page).merging(["title": "", "tags": "", "shown": shown]) { $1 }
        #expect(await send(texts, to: "/links/\(id)/edit").status == 303)
        let link = try await stored(id)
        #expect(link["expires_at"] as? String == expiry && link["title"] == nil && link["tags"] == nil)
    }

    @Test("markup in the texts of strangers and operators stays text in every field, entered or stored")
    func hostileTexts() async throws {
        let hostile = [
            "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' autofocus onfocus='alert(1)",
            "</textarea><svg onload=alert(1)>", "{{x}}\u{202e}&lt;",
        ]
        for text in hostile {
            let entered = await send(Self.whole.mapValues { _ in text })
            #expect(entered.status == 422)
            Self.expectHarmless(entered.text)
            #expect(Self.inputs(of: entered.text)["title"] == text)
            var body: [String: Any] = ["destination": "/x", "metadata": [text: text], "tags": [text]]
            for field in [
                "title", "campaign_key", "source", "utm_source", "preview_title", "preview_description",
            ] {
                body[field] = text
            }
            let json = try JSONSerialization.data(withJSONObject: body)
            let id = try await service.makeLink(String(decoding: json, as: UTF8.self))
            for path in ["/links/\(id)", "/links/\(id)/edit"] {
                let page = await browser.get(path).text
                Self.expectHarmless(page)
                #expect(PageMarkup(page).text.contains(text) || Self.inputs(of: page)["title"] == text)
            }
            #expect(Self.inputs(of: await browser.get("/links/\(id)/edit").text)["title"] == text)
            let item = QueryItem.query(of: [QueryItem(name: "search", value: text)])
            Self.expectHarmless(await browser.get("/links?\(item)").text)
        }
        Self.expectHarmless(await browser.get("/links").text)
    }

    private static func expectHarmless(_ text: String) {
        let page = PageMarkup(text)
        #expect(page.tags.count { $0.name == "script" } == 1 && page.rawTexts == [""])
        #expect(page.tags.count { $0.name == "svg" } == 0)
        let names = page.tags.flatMap(\.attributes.keys)
        #expect(!names.contains { $0.hasPrefix("on") || $0 == "style" || $0 == "autofocus" })
        #expect(page.tags.filter { $0.name == "img" }.allSatisfy { $0.attributes["id"] == "code" })
    }
}
