import Attribution
import Foundation
import HTTPServer
import Server
import Testing

/// The page of settings with its forms, and the audit log of what they change.
@Suite("The page Settings")
struct SettingsPageTests {
    private let service: TestService
    private let browser: DashboardBrowser

    init() async throws {
        service = try await TestService(App.Settings(name: "Shop <b>")) {
            $0.shown = [
                ShownSetting(name: "listen", value: "127.0.0.1:8080", origin: "--listen"),
                ShownSetting(name: "initial-admin-key", value: "set (not shown)", origin: "AFTERLINK_X"),
            ]
        }
        browser = await DashboardBrowser.signedIn(to: service)
    }

    private func post(_ path: String, _ fields: String, by browser: DashboardBrowser? = nil) async -> Answer {
        let browser = browser ?? self.browser
        return await browser.post(path, "token=\(await browser.formToken())&\(fields)")
    }

    /// The digest of the settings in the form of an app, as the page has it now.
    private func shownDigest(to browser: DashboardBrowser? = nil) async -> String {
        PageMarkup(await (browser ?? self.browser).get("/settings").text).hidden("shown") ?? ""
    }

    private func audit(_ query: String = "") async -> Answer {
        await service.send(.get, "/admin/api/audit", query: query, fields: service.bearer(.admin))
    }

    @Test("shows apps, keys, sessions, and every setting with its source")
    func page() async {
        let page = await browser.get("/settings").text
        let keys = PageMarkup.table("Kind, app and last use of each key", in: page).dropFirst()
        #expect(Set(keys.map { $0[1] }) == Set(KeyKind.allCases.map(\.rawValue)))
        let sessions = PageMarkup.table("Open sessions of the dashboard", in: page).dropFirst()
        #expect(sessions.count == 1 && sessions.first?.first?.hasSuffix("this session") == true)
        let settings = PageMarkup.table("Values, and where each was set", in: page).dropFirst()
        #expect(
            settings.map { $0.joined(separator: "|") } == [
                "listen|127.0.0.1:8080|--listen", "initial-admin-key|set (not shown)|AFTERLINK_X",
            ]
        )
        #expect(page.contains("<summary>Shop &lt;b&gt;</summary>"))
        #expect(page.contains("<span>iOS store ID</span><input name=\"ios_store_id\""))
        #expect(page.contains("<span>Desktop URL</span>") && page.contains("<dt>Click IDs</dt>"))
        for kind in KeyKind.allCases { #expect(!page.contains(service.keyText(kind))) }
    }

    @Test("offers its tables as files without the texts of buttons, and the commands that print the tables")
    func files() async {
        let page = await browser.get("/settings").text
        for command in ["keys list", "sessions list", "settings list"] {
            #expect(page.contains("afterlink \(command)</pre>"), "\(command)")
        }
        let files = PageMarkup(page).tags.compactMap { $0.attributes["href"] }.filter {
            $0.contains("as=csv")
        }
        #expect(files.count == 3)
        for file in files {
            let answer = await browser.get(file.replacing("&amp;", with: "&"))
            answer.expect(200, lacks: ["Revoke"])
        }
    }

    @Test("shows the windows by method, and the audit log has their changes")
    func windows() async {
        let change = #"{"fingerprint_window":3600,"deterministic_window":7200}"#
        #expect(await service.admin(.patch, "/apps/\(service.app.text)", change).status == 200)
        let page = await browser.get("/settings").text
        for (name, label, value) in [
            ("fingerprint_window", "Fingerprint window", "3600"),
            ("deterministic_window", "Deterministic window", "7200"),
        ] {
            #expect(page.contains("<dt>\(label)</dt><dd>\(value)</dd>"), "\(name)")
            #expect(await audit("action=app.set").text.contains("\"\(name)\""), "\(name)")
        }
    }

    @Test("a new key is shown once, works, and is revoked with its sessions")
    func keys() async throws {
        let made = await post("/settings/keys", "kind=read&app=&label=wall+%3Ci%3E&expires=")
        #expect(made.status == 200 && made.fieldLines.contains("Cache-Control: no-store"))
        let words = made.text.split { !$0.isASCII || "<>\" ".contains($0) }.map(String.init)
        let text = try #require(words.first { $0.hasPrefix("read_") })
        let fields = ["Authorization": "Bearer \(text)"]
        #expect(await service.send(.get, "/admin/stats", fields: fields).status == 200)
        let page = await browser.get("/settings").text
        #expect(!page.contains(text) && page.contains("wall &lt;i&gt;"))
        let row = try #require(
            PageMarkup.table("Kind, app and last use of each key", in: page).first { $0[0].hasPrefix("wall") }
        )
        #expect(row[2] == "All apps")
        let id = try #require(row[0].split(separator: "(").last.map { String($0.dropLast()) })
        let reader = await DashboardBrowser.signedIn(to: service, with: text)
        #expect(await reader.get("/").status == 200)
        #expect(await post("/settings/keys/revoke", "key=\(id)").status == 303)
        #expect(await reader.get("/").status == 303)
        #expect(await service.send(.get, "/admin/stats", fields: fields).status == 401)
        let log = await audit("actor=session").text
        #expect(!log.contains(text))
        #expect(log.contains(#""action":"key.create""#) && log.contains(#""action":"key.revoke""#))
        #expect(log.contains(#""after":{"kind":"read","label":"wall <i>"}"#))
    }

    @Test(
        "a new key with a wrong field is refused, and no key is made",
        arguments: [
            "kind=x", "kind=app&app=", "kind=app&app=app_x", "kind=read&app=&expires=2001-01-01",
            "kind=read&app=&expires=x", "kind=admin&label=%01",
        ]
    )
    func wrongKeys(fields: String) async {
        let before = await browser.table("Kind, app and last use of each key", at: "/settings").count
        let answer = await post("/settings/keys", fields)
        #expect(answer.status == 400 || answer.status == 404, "\(answer.text)")
        #expect(
            await browser.table("Kind, app and last use of each key", at: "/settings")
                .count == before
        )
    }

    @Test("an app's settings for links are changed, and the log has the values before and after")
    func apps() async throws {
        let id = service.app.text
        let answer = await post(
            "/settings/apps",
            "app=\(id)&shown=\(await shownDigest())&link_hosts=go.example.com%0D%0Ago2.example.com&color=%23112233"
        )
        #expect(answer.status == 303, "\(answer.text)")
        let shown = await service.send(.get, "/admin/api/apps/\(id)", fields: service.bearer(.admin)).text
        #expect(shown.contains(#""link_hosts":["go.example.com","go2.example.com"]"#))
        let wrong = await post("/settings/apps", "app=\(id)&shown=\(await shownDigest())&color=blue")
        #expect(wrong.status == 422 && wrong.text.contains("color"))
        _ = await post("/settings/apps", "app=\(id)&shown=\(await shownDigest())&color=")
        let log = await audit("action=app.set").text
        let after = ##"{"color":"#112233","link_hosts":["go.example.com","go2.example.com"]}"##
        #expect(log.contains(#""before":{},"after":\#(after)"#))
        #expect(log.contains(##""before":{"color":"#112233"},"after":{}"##))
        let page = await browser.get("/settings/audit?action=app.set").text
        let rows = PageMarkup.table("Changes, the newest first", in: page).dropFirst()
        #expect(rows.count == 2 && rows.allSatisfy { $0[2] == "app: set" && $0[3] == "Shop <b>" })
        #expect(rows.last?[5].contains("#112233") == true)
    }

    @Test("a refused form shows every problem, the wrong fields as they were entered, and keeps the others")
    func refusedForm() async throws {
        let id = service.app.text
        let sent = "app=\(id)&click_ids=keep&link_hosts=go.example.com"
        let wrong = "\(sent)&shown=\(await shownDigest())&color=blue%3Cb%3E"
        let refused = await post("/settings/apps", wrong)
        refused.expect(422, holds: [">Color</label>", ">blue&lt;b&gt;</textarea>"])
        let page = PageMarkup(refused.text)
        #expect(page.hidden("link_hosts") == "go.example.com" && page.hidden("app") == id)
        let digest = try #require(page.hidden("shown"))
        #expect(await post("/settings/apps", "\(sent)&shown=\(digest)&color=%23112233").status == 303)
        let endpoint = await post("/postbacks", "app=\(id)&url=ftp%3A%2F%2Fa&types=nothing&headers=X%3A+y")
        endpoint.expect(422, holds: [">ftp://a</textarea>", ">nothing</textarea>", "There is no type"])
        #expect(PageMarkup(endpoint.text).hidden("headers") == "X: y")
        let key = await post("/settings/keys", "kind=app&app=&label=phone")
        key.expect(400, holds: ["app must be the id of an app"])
        #expect(PageMarkup(key.text).hidden("label") == "phone")
        // A page without a form has none.
        #expect(await !browser.get("/launches?period=x").text.contains("class=\"edit\""))
    }

    @Test("if two sessions save an app's form, the second gets the stored values beside the entered ones")
    func twoSessions() async throws {
        let (id, other) = (service.app.text, await DashboardBrowser.signedIn(to: service))
        let (first, second) = (await shownDigest(), await shownDigest(to: other))
        #expect(first == second && !first.isEmpty)
        let rest = "click_ids=keep&link_hosts=go.example.com"
        let saved = await post("/settings/apps", "app=\(id)&shown=\(first)&\(rest)&color=%23112233")
        #expect(saved.status == 303, "\(saved.text)")
        let sent = "app=\(id)&shown=\(second)&\(rest)&color=%23445566"
        let refused = await post("/settings/apps", sent, by: other)
        refused.expect(409, holds: ["Another request has changed these settings", "Stored now: #112233"])
        #expect(refused.text.contains(">#445566</textarea>") && !refused.text.contains("id=\"f-link_hosts\""))
        let page = PageMarkup(refused.text)
        #expect(page.hidden("app") == id && page.hidden("link_hosts") == "go.example.com")
        #expect(await other.get("/settings").text.contains("<dd>#112233</dd>"))
        // A change that the form does not show is no conflict, and stays.
        #expect(await service.admin(.patch, "/apps/\(id)", #"{"fingerprint_window":3600}"#).status == 200)
        let digest = try #require(page.hidden("shown"))
        let again = "app=\(id)&shown=\(digest)&\(rest)&color=%23445566"
        #expect(await post("/settings/apps", again, by: other).status == 303)
        let settings = await other.get("/settings").text
        #expect(settings.contains("<dd>#445566</dd>") && settings.contains("<dd>3600</dd>"))
        // The command line and the API change settings too.
        #expect(await service.admin(.patch, "/apps/\(id)", ##"{"color":"#778899"}"##).status == 200)
        #expect(await post("/settings/apps", again, by: other).status == 409)
        #expect(await post("/settings/apps", "app=\(id)&\(rest)").status == 409)
    }

    @Test("of two forms that are sent at once, one is saved, and the other shows what is stored now")
    func atOnce() async throws {
        let service = try await TestService(queueLimit: 2)
        let browser = await DashboardBrowser.signedIn(to: service)
        let (id, digest) = (service.app.text, await shownDigest(to: browser))
        let token = await browser.formToken()
        let release = service.holdWriter()
        let answers = await withTaskGroup(of: (color: String, answer: Answer).self) { group in
            for number in 1...4 {
                group.addTask {
                    let fields = "token=\(token)&app=\(id)&shown=\(digest)&click_ids=keep"
                    let sent = fields + "&color=%2300000\(number)"
                    return ("#00000\(number)", await browser.post("/settings/apps", sent))
                }
            }
            // The queue has room for two writes, so two forms have been compared, and wait for the writer.
            for _ in 1...2 { await group.next()?.answer.expect(503, holds: []) }
            release.signal()
            return await group.reduce(into: []) { $0.append($1) }.sorted {
                $0.answer.status < $1.answer.status
            }
        }
        #expect(answers.map(\.answer.status) == [303, 409])
        let saved = try #require(answers.first?.color)
        answers.last?.answer.expect(409, holds: ["Stored now: \(saved)", ">\(answers[1].color)</textarea>"])
    }

    @Test("sessions are ended one by one or all at once, and the session that asks stays")
    func sessions() async throws {
        let (first, second, third) = (
            await DashboardBrowser.signedIn(to: service), await DashboardBrowser.signedIn(to: service),
            await DashboardBrowser.signedIn(to: service)
        )
        // The sessions have no names; the start of the cookie's digest names one.
        let (text, now) = (String(first.cookie.split(separator: "=")[1]), service.clock.now)
        let session = DashboardSession(
            digest: KeyDigest(of: text),
            key: nil,
            createdAt: now,
            usedAt: now,
            expiresAt: now
        ).id
        #expect(await browser.get("/settings").text.contains(session))
        #expect(await post("/settings/sessions/end", "session=\(session)").status == 303)
        #expect(await first.get("/").status == 303)
        #expect(await second.get("/").status == 200)
        #expect(await post("/settings/sessions/end-others", "").status == 303)
        #expect(await second.get("/").status == 303)
        #expect(await third.get("/").status == 303)
        #expect(await browser.get("/").status == 200)
        let log = await audit("action=session.end_others").text
        #expect(log.contains(#""actor":{"kind":"session","name":"key_"#))
        #expect(await audit("action=session.start").text.contains(#""id":"aud_"#))
    }

    @Test("the log has the API's changes with their key, and can be queried by actor, action and time")
    func api() async throws {
        let json = service.bearer(.admin).merging(["Content-Type": "application/json"]) { $1 }
        let body = #"{"slug":"a","destination":"myapp://a","title":"T"}"#
        let made = await service.send(.post, "/admin/api/links", fields: json, body: body)
        let id = try #require(made.member("id"))
        let path = "/admin/api/links/\(id)"
        _ = await service.send(.patch, path, fields: json, body: #"{"title":"U"}"#)
        _ = await service.send(.post, path + "/archive", fields: json)
        _ = await service.send(.post, path + "/restore", fields: json)
        _ = await service.send(.delete, path, fields: json)
        let log = await audit("actor=key").text
        let actions = log.split(separator: #""action":""#).dropFirst().map {
            String($0.prefix { $0 != "\"" })
        }
        #expect(actions == ["link.delete", "link.restore", "link.archive", "link.set", "link.create"])
        #expect(log.contains(#""before":{"title":"T"},"after":{"title":"U"}"#))
        #expect(log.contains(#""subject":{"kind":"link","id":"\#(id)"}"#))
        let page = await audit("actor=key&limit=2")
        let next = try #require(page.member("next"))
        let rest = await audit("actor=key&limit=9&before=\(next)").text
        #expect(rest.components(separatedBy: #""id":"aud_"#).count == 4)
        #expect(await audit("until=2001-01-01").text == #"{"entries":[],"next":null}"#)
        for query in ["action=x", "since=x", "limit=0", "before=x", "app=x", "actors=key"] {
            #expect(await audit(query).status == 400, "\(query)")
        }
        let shop = await audit("app=\(service.app.text)&action=app.create").text
        #expect(shop.contains(#""actor":{"kind":"command","name":"test"}"#))
    }

    @Test("the page of the log has filters, a text when it is empty, and a link to older changes")
    func auditPage() async throws {
        let empty = await browser.get("/settings/audit?until=2001-01-01").text
        #expect(empty.contains("No change is recorded"))
        for number in 1...101 {
            let key = TestKey(
                .test,
                of: service.app,
                at: service.clock.now.advanced(byMilliseconds: Int64(number))
            )
            try await service.add(key.key)
        }
        let first = await browser.get("/settings/audit?action=key.create").text
        #expect(PageMarkup.table("Changes, the newest first", in: first).count == 101)
        let link = try #require(PageMarkup(first).tags.first { $0.attributes["class"] == "next" })
        let rest = await browser.get(try #require(link.attributes["href"]).replacing("&amp;", with: "&")).text
        #expect(PageMarkup.table("Changes, the newest first", in: rest).count > 1)
        #expect(await browser.get("/settings/audit?action=x").status == 400)
    }

    @Test("the span of the log includes its last day, in the page, its file and the lines to copy")
    func auditSpan() async throws {
        let (now, caption) = (service.clock.now, "Changes, the newest first")
        let days = [0, 1].map { now.advanced(byMilliseconds: $0 * 86_400_000).iso8601.prefix(10) }
        let span = "since=\(days[0])&until=\(days[0])"
        let page = await browser.get("/settings/audit?\(span)").text
        let all = await browser.get("/settings/audit").text
        let count = PageMarkup.table(caption, in: all).count
        #expect(count > 1 && PageMarkup.table(caption, in: page).count == count)
        #expect(page.contains("--since \(days[0]) --until \(days[1])T00:00:00.000Z</pre>"))
        let file = await browser.get("/export/audit.json?\(span)").body
        let rows = try JSONSerialization.jsonObject(with: Data(file)) as? [[String: Any]]
        #expect(rows?.count == count - 1)
        // A time is no day, and the API's days end where they start.
        let time = "\(days[0])T00%3A00%3A00.000Z"
        #expect(await browser.get("/settings/audit?until=\(time)").text.contains("No change is recorded"))
        #expect(await audit(span).text == #"{"entries":[],"next":null}"#)
    }

    @Test("the service logs sign-ins and failed sign-ins without a secret")
    func signInLog() async {
        _ = await DashboardBrowser(service).post("/sign-in", "key=secret-text")
        let lines = service.logLines().joined(separator: "\n")
        #expect(lines.contains("signed in") && lines.contains("a sign-in failed"))
        #expect(!lines.contains("secret-text") && !lines.contains(service.keyText(.admin)))
        #expect(!lines.contains(String(browser.cookie.dropFirst("afterlink=".count))))
    }
}
