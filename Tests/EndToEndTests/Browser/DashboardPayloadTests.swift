import Foundation
import Support
import Synchronization
import Testing

@Suite(
    "Texts that try to run in the dashboard",
    .blocking,
    .enabled(if: Chromium.isThere, "no Chromium is here; AFTERLINK_TEST_BROWSER names one")
)
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
        // All combinations take half a minute, so short runs try each body behind two of the beginnings.
        return bodies.enumerated().flatMap { number, body in
            let chosen = isLong ? starts : [0, 6].map { starts[(number + $0) % starts.count] }
            return chosen.map { $0 + body }
        }
    }()

    /// Stores every text in the fields that strangers fill.
    private func storeClicks(_ stage: DashboardStage) throws {
        let texts = Self.texts
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 8) { part in
            do {
                let connection = try stage.server.connect()
                for index in stride(from: part, to: texts.count, by: 8) {
                    let fingerprint = String(format: "%064x", index + 1)
                    let body = try HTTPTestClient.click(
                        fingerprint,
                        ["campaign_key": texts[index], "source": texts[index]]
                    )
                    let json = ["Content-Type": "application/json"]
                    let path = HTTPTestClient.prefix
                    let click = try connection.call("POST", "\(path)/click", fields: json, body: body)
                    let fields = [
                        "Authorization": "Bearer \(stage.installation.keys.app)",
                        "X-Client-Version": texts[index].filter { $0.isASCII && $0 >= " " },
                    ]
                    let check = try connection.call(
                        "GET",
                        "\(path)?fingerprint=\(fingerprint)",
                        fields: fields
                    )
                    if click.status != 201 || check.status != 200 {
                        failures.add("\(click.text) \(check.text)")
                    }
                }
            } catch {
                failures.add("\(error)")
            }
        }
        #expect(failures.all.isEmpty, "\(failures.all.prefix(3))")
    }

    /// Stores the texts in the fields of links, several in each link.
    private func storeLinks(_ stage: DashboardStage) throws -> Int {
        let connection = try stage.server.connect()
        let fields = [
            "Authorization": "Bearer \(stage.installation.keys.admin)", "Content-Type": "application/json",
        ]
        var stored = 0
        let names = [
            "title", "campaign_key", "source", "preview_title", "preview_description", "referral_code",
        ]
        for start in stride(from: 0, to: Self.texts.count, by: 6) {
            var link: [String: Any] = ["slug": "s\(start)", "destination": "myapp://promo/item"]
            for (name, text) in zip(names, Self.texts[start...]) { link[name] = text }
            while true {
                let body = try JSONSerialization.data(withJSONObject: link)
                let answer = try connection.call(
                    "POST",
                    "/admin/api/links",
                    fields: fields,
                    body: String(decoding: body, as: UTF8.self)
                )
                if answer.status == 201 { break }
                // Some texts are no value of their field; the others are stored.
                let refused = (answer.json["errors"] as? [[String: Any]] ?? []).compactMap {
                    $0["field"] as? String
                }
                guard answer.status == 422, refused.contains(where: { link[$0] != nil }) else {
                    throw Chromium.Failure(description: answer.text)
                }
                for field in refused { link[field] = nil }
            }
            stored += link.count - 2
        }
        return stored
    }

    @Test("thousands of texts of strangers and operators are shown as texts, and load nothing")
    func payloads() throws {
        let stage = try DashboardStage()
        try storeClicks(stage)
        let stored = 3 * Self.texts.count + (try storeLinks(stage))
        #expect(stored >= (isLong ? 7_000 : 1_000), "\(stored)")
        let tab = try stage.tab()
        try tab.open("http://localhost" + stage.signInPath())
        try tab.focus("Sign in")
        try tab.press("Enter", opens: true)
        var pages = 0
        for list in ["/", "/launches?period=day", "/links", "/campaigns?period=day"] {
            var next = list
            while !next.isEmpty {
                try tab.open("http://localhost\(next)")
                pages += 1
                #expect(try tab.value(of: "typeof window.ran") == "undefined", "\(next)")
                #expect(try tab.value(of: "document.querySelectorAll('main').length") == "1", "\(next)")
                let link =
                    "(document.querySelector('a.next') || {getAttribute() { return '' }}).getAttribute('href')"
                next = try tab.value(of: link)
            }
        }
        #expect(pages > Self.texts.count / 100)
        #expect(tab.events("Page.javascriptDialogOpening").isEmpty)
        let foreign = tab.events("Network.requestWillBeSent").compactMap { $0.string("request", "url") }
            .filter { !$0.hasPrefix("http://localhost/") && !$0.hasPrefix("data:") }
        #expect(foreign.isEmpty && tab.complaints.isEmpty, "\(foreign) \(tab.complaints)")
    }
}

/// The failures of threads.
private final class Failures: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
