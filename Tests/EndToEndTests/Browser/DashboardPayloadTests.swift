import Foundation
import Support
import Synchronization
import Testing

@Suite("Texts that try to run in the dashboard", .blocking, .inBrowser)
struct DashboardPayloadTests {
    /// Texts that run a script, open a dialog or load from another site if a page takes them for markup.
    static let texts: [String] = {
        let bodies =
            [
                "<script>window.ran=1</script>", "<img src=x onerror=window.ran=1>",
                "<svg onload=window.ran=1>",
                "<svg><script>window.ran=1</script></svg>", "<iframe src=javascript:window.ran=1>",
                "<a href=javascript:window.ran=1>x</a>", "<body onload=window.ran=1>",
                "<script>alert(1)</script>",
                "<img src=https://evil.example/a.png>",
                "<link rel=stylesheet href=https://evil.example/a.css>",
                "<script src=https://evil.example/a.js></script>", "<meta http-equiv=refresh content=0>",
                "<base href=https://evil.example/>", "<form action=https://evil.example/><button>x",
                "<style>@import 'https://evil.example/a.css'</style>", "<object data=https://evil.example/>",
                "<input autofocus onfocus=window.ran=1>", "<details open ontoggle=window.ran=1>",
                "javascript:window.ran=1", "&lt;script&gt;window.ran=1&lt;/script&gt;", "<!--", "]]>",
                "</html>",
            ] + Payloads.all
        let starts = [
            "", "<", "&quot;>", "/*", "\"", "'", "\">", "'>", "</td>", "</title>", "</textarea>", "</script>",
            "-->",
        ]
        // All combinations take half a minute, so short runs put only two of the starts before each body.
        return bodies.enumerated().flatMap { number, body in
            let chosen = isLong ? starts : [0, 6].map { starts[(number + $0) % starts.count] }
            return chosen.map { $0 + body }
        }
    }()

    /// Sends every text in fields of clicks, first launches, events and Apple's postbacks, which strangers can fill.
    ///
    /// - Returns: a lower bound of the number of accepted values: six for each text, three for each accepted event.
    private func storeTraffic(_ stage: DashboardStage) throws -> Int {
        let (texts, keys) = (Self.texts, stage.installation.keys)
        let (failures, events) = (CollectedTexts(), CollectedTexts())
        DispatchQueue.concurrentPerform(iterations: 8) { part in
            do {
                let connection = try stage.server.connect()
                let json = ["Content-Type": "application/json"]
                for index in stride(from: part, to: texts.count, by: 8) {
                    let (text, fingerprint) = (texts[index], String(format: "%064x", index + 1))
                    let path = HTTPTestClient.prefix
                    let body = try HTTPTestClient.click(
                        fingerprint,
                        [
                            "campaign_key": text, "source": text, "click_ids": ["gclid": text], "jid": text,
                            "metadata": ["text": text],
                        ]
                    )
                    let click = try connection.call("POST", "\(path)/click", fields: json, body: body)
                    let fields = [
                        "Authorization": "Bearer \(keys.app)", "X-Install-ID": "i\(index)",
                        "X-SDK-Version": text.filter { $0.isASCII && $0 >= " " },
                    ]
                    let check = try connection.call(
                        "GET",
                        "\(path)?fingerprint=\(fingerprint)",
                        fields: fields
                    )
                    if click.status != 201 || check.status != 200 {
                        failures.add("\(click.text) \(check.text)")
                    }
                    let event: [String: Any] = [
                        "event_id": text, "name": "level_up", "install_id": "i\(index)", "user": text,
                        "properties": [text: text],
                    ]
                    let sent = try JSONSerialization.data(withJSONObject: ["events": [event]])
                    let stored = try connection.call(
                        "POST",
                        "/v1/events",
                        fields: json.merging(["Authorization": "Bearer \(keys.server)"]) { $1 },
                        body: String(decoding: sent, as: UTF8.self)
                    )
                    if stored.text.contains("accepted") { events.add(text) }
                    let postback = try JSONSerialization.data(withJSONObject: [
                        "version": text, "ad-network-id": text, "app-id": 525_463_029, "transaction-id": text,
                        "source-domain": text, "attribution-signature": "AAAA", "country-code": "US",
                    ])
                    let received = try connection.call(
                        "POST",
                        "/.well-known/skadnetwork/report-attribution/",
                        fields: json,
                        body: String(decoding: postback, as: UTF8.self)
                    )
                    if received.status >= 500 { failures.add(received.text) }
                }
            } catch {
                failures.add("\(error)")
            }
        }
        #expect(failures.all.isEmpty, "\(failures.all.prefix(3))")
        #expect(events.all.count > texts.count / 2, "\(events.all.count)")
        return 6 * texts.count + 3 * events.all.count
    }

    private func send(_ object: [String: Any], _ method: String, to path: String, _ stage: DashboardStage)
        throws -> HTTPTestClient.Reply
    {
        let fields = [
            "Authorization": "Bearer \(stage.installation.keys.admin)", "Content-Type": "application/json",
        ]
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try stage.server.connect().call(method, path, fields: fields, body: body)
    }

    /// Sends an object with texts to the API, first with all texts and then without the texts that the API refused.
    ///
    /// - Returns: the number of texts that the server accepted, and the answer.
    @discardableResult
    private func store(
        _ texts: [String: Any],
        with others: [String: Any] = [:],
        _ method: String = "POST",
        at path: String,
        _ stage: DashboardStage
    ) throws -> (count: Int, answer: HTTPTestClient.Reply) {
        var left = texts
        while true {
            let answer = try send(others.merging(left) { $1 }, method, to: path, stage)
            if answer.status < 300 { return (left.count, answer) }
            let refused = (answer.json["errors"] as? [[String: Any]] ?? []).compactMap {
                $0["field"] as? String
            }
            guard answer.status == 422, refused.contains(where: { left[$0] != nil }) else {
                throw Chromium.Failure(description: answer.text)
            }
            for field in refused { left[field] = nil }
        }
    }

    /// Stores the texts in the fields of links, several in each link, and changes some links.
    private func storeLinks(_ stage: DashboardStage) throws -> Int {
        let names = [
            "title", "campaign_key", "source", "preview_title", "preview_description", "referral_code",
            "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "jid",
        ]
        var stored = 0
        for start in stride(from: 0, to: Self.texts.count, by: 6) {
            let texts = Self.texts[start...].prefix(6)
            var link: [String: Any] = [
                "tags": texts.map { $0.replacing(",", with: "") },
                "variants": texts.prefix(1).map {
                    ["name": "a", "weight": 1, "destination": "myapp://\($0)"] as [String: Any]
                },
                "metadata": ["text": texts.joined()],
            ]
            for name in ["destination", "ios_destination"] { link[name] = "myapp://\(texts.joined())" }
            for name in ["desktop_url", "android_fallback", "preview_image"] {
                link[name] = "https://example.com/\(texts.joined())"
            }
            for (number, name) in names.enumerated() { link[name] = Self.texts[start + number % texts.count] }
            let others: [String: Any] = ["slug": "s\(start)", "destination": "myapp://promo/item"]
            let (count, answer) = try store(link, with: others, at: "/admin/api/links", stage)
            stored += count
            guard start % 60 == 0, let id = answer.string("id") else { continue }
            // The audit log has the texts before and after a change.
            try store(["title": Self.texts[start] + "!"], "PATCH", at: "/admin/api/links/\(id)", stage)
        }
        return stored
    }

    /// Stores some of the texts in other values that operators write: settings, names of apps and labels of keys.
    private func storeSettings(_ stage: DashboardStage) throws -> Int {
        let installation = stage.installation
        var stored = 0
        let connection = try stage.server.connect()
        let key = ["Authorization": "Bearer \(installation.keys.admin)"]
        let app = try connection.call("GET", "/admin/api/apps/\(installation.appID)", fields: key).json
        for text in every(isLong ? 20 : 40) {
            var settings: [String: Any] = [:]
            for (name, value) in app where !["id", "created_at", "name", "link_hosts"].contains(name) {
                settings[name] = value is [Any] ? [text] : text
            }
            // The paths and queries of URLs take most texts.
            for name in ["ios_fallback", "android_fallback", "huawei_fallback", "desktop_url", "icon"] {
                settings[name] = "https://example.com/\(text)"
            }
            let path = "/admin/api/apps/\(installation.appID)"
            stored += try store(settings, "PATCH", at: path, stage).count
        }
        for (number, text) in every(isLong ? 50 : 60).enumerated() {
            let made = try installation.run(["apps", "create", "--name", "\(text.prefix(80)) \(number)"])
            let label = ["--label", String(text.prefix(80)), "--app", installation.appID]
            let keyed = try installation.run(["keys", "create", "--kind", "app"] + label)
            stored += [made, keyed].count { $0.status == 0 }
        }
        return stored
    }

    /// Creates endpoints whose URLs and templates have some of the texts, and one whose receiver answers with the body.
    private func storeEndpoints(_ stage: DashboardStage, _ receiver: WebhookReceiver) throws -> Int {
        func create(_ draft: [String: Any], _ types: [String]) throws -> Int {
            let app: [String: Any] = ["app": stage.installation.appID, "types": types]
            let answer = try send(app.merging(draft) { $1 }, "POST", to: "/admin/api/postbacks", stage)
            return answer.status == 201 ? 1 : 0
        }
        #expect(try create(["url": receiver.url("echo")], ["match.created", "event.received"]) == 1)
        var stored = 0
        for text in every(isLong ? 50 : 40) {
            let template = String(
                decoding: try JSONSerialization.data(withJSONObject: ["text": text]),
                as: UTF8.self
            )
            stored += try create(["url": "https://127.0.0.1:1/\(text)"], ["link.archived"])
            stored += try create(["url": "https://127.0.0.1:1/a", "body": template], ["link.archived"])
        }
        return stored
    }

    /// Returns every `distance`-th text.
    private func every(_ distance: Int) -> [String] {
        stride(from: 0, to: Self.texts.count, by: distance).map { Self.texts[$0] }
    }

    /// The pages that list rows.
    private static let lists = [
        "/", "/live", "/launches?period=day", "/links", "/campaigns?period=day", "/events?period=day",
        "/matching?period=day", "/postbacks", "/apple?period=day", "/domains", "/system", "/settings",
        "/settings/audit", "/settings/held", "/try",
    ]

    /// The prefixes of links to pages that show one row, or a list with a filter.
    private static let details = [
        "/launches/chk_", "/launches/clk_", "/links/lnk_", "/campaigns/one?", "/postbacks/pbe_", "/?",
    ]

    @Test("thousands of texts of strangers and operators are shown as texts, and load nothing")
    func payloads() throws {
        let receiver = try WebhookReceiver()
        let stage = try DashboardStage { _ in receiver.allowance + ["--postback-allow", "127.0.0.1:1"] }
        let endpoints = try storeEndpoints(stage, receiver)
        #expect(endpoints > (isLong ? 30 : 5), "\(endpoints)")
        let stored = try storeTraffic(stage) + storeLinks(stage) + storeSettings(stage) + endpoints
        #expect(stored >= (isLong ? 7_000 : 1_000), "\(stored)")
        let tab = try stage.tab()
        try tab.open("http://localhost" + stage.signInPath())
        try tab.focus("Sign in")
        try tab.press("Enter", opens: true)
        var (pages, found): (Int, [String: [String]]) = (0, [:])
        for list in Self.lists {
            var next = list
            while !next.isEmpty, next != "/live" || pages < 2 {
                try look(at: next, in: tab)
                pages += 1
                let links = try tab.value(
                    of: "[...document.links].map(e => e.getAttribute('href')).join(' ')"
                )
                for link in links.split(separator: " ").map(String.init) {
                    // A link with `as=` downloads a file, so do not open it.
                    guard !link.contains("as="), let kind = Self.details.first(where: link.hasPrefix) else {
                        continue
                    }
                    found[kind, default: []].append(link)
                }
                let link =
                    "(document.querySelector('a.next') || {getAttribute() { return '' }}).getAttribute('href')"
                next = try tab.value(of: link)
                if next == list { break }
            }
        }
        #expect(pages > Self.texts.count / 100)
        for kind in Self.details {
            // A short run opens some pages of each kind.
            let all = found[kind] ?? []
            #expect(!all.isEmpty, "no page leads to \(kind)")
            for index in stride(from: 0, to: all.count, by: max(1, all.count / (isLong ? 200 : 6))) {
                try look(at: all[index], in: tab)
                guard kind == "/links/lnk_" else { continue }
                let path = all[index].prefix { $0 != "?" }
                try look(at: "\(path)/edit\(all[index].dropFirst(path.count))", in: tab)
            }
        }
        #expect(tab.events("Page.javascriptDialogOpening").isEmpty)
        // The page of a link shows the picture of its preview, whose host the tests have chosen.
        let known = ["http://localhost/", "data:", "https://example.com/"]
        let foreign = tab.events("Network.requestWillBeSent").compactMap { $0.string("request", "url") }
            .filter { url in !known.contains(where: url.hasPrefix) }
        #expect(foreign.isEmpty && tab.complaints.isEmpty, "\(foreign) \(tab.complaints)")
    }

    /// Opens a page, and expects that it is whole and that no text has run.
    private func look(at address: String, in tab: BrowserTab) throws {
        try tab.open("http://localhost\(address)")
        #expect(try tab.value(of: "typeof window.ran") == "undefined", "\(address)")
        #expect(try tab.value(of: "document.querySelectorAll('main').length") == "1", "\(address)")
        #expect(try tab.heading != "This did not work", "\(address)")
    }
}

/// Texts that several threads collect: failures, or texts whose events were accepted.
private final class CollectedTexts: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
