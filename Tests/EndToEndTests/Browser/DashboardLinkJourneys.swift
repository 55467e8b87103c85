import Foundation
import Support
import Testing

@Suite("Links in the dashboard, in a browser", .blocking, .inBrowser)
struct DashboardLinkJourneys {
    /// A server whose app has a link host, with TLS, because phones open links with https.
    private static func stage() throws -> DashboardStage {
        try DashboardStage { installation in
            let words = [
                "apps", "set", "--name", "Shop", "--link-host", LinkStage.host, "--ios-scheme", "shopapp",
                "--android-scheme", "shopapp", "--ios-store-id", "1234567890", "--android-package",
                "com.example.shop", "--web-host", "shop.example",
            ]
            let output = try installation.run(words)
            guard output.status == 0 else { throw ChildProcess.Failure(description: output.errors) }
            return try CertificateFiles(in: installation.folder).arguments
        }
    }

    @Test(
        "by keyboard alone, a link is made, previewed and scanned, its click arrives live, and it is archived",
        arguments: [true, false]
    )
    func link(runsScript: Bool) throws {
        let stage = try Self.stage()
        let tab = try stage.signedIn(runsScript: runsScript)
        try tab.openPage("Links", key: "i")
        #expect(try tab.heading == "Links")
        #expect(try tab.value(of: "document.querySelector('.empty').textContent").contains("no link yet"))
        try tab.focus("New link")
        try tab.press("Enter", opens: true)

        try tab.fill("slug", "summer25")
        try tab.fill("destination", "other://promo")
        try tab.press("Enter", opens: true)
        #expect(try tab.heading == "New link")
        #expect(try tab.value(of: "document.getElementById('f-slug').value") == "summer25")
        let problem = try tab.value(of: "document.getElementById('e-destination').textContent")
        #expect(problem.contains("none of the app's: shopapp"))
        try tab.fill("destination", "/promo/item")
        try tab.fill("preview_title", "Up to 40 %")
        try tab.press("Enter", opens: true)
        #expect(try tab.heading == "summer25")

        let page = try tab.value(of: "location.pathname")
        let visitors = try tab.value(of: "document.querySelectorAll('main tbody tr').length")
        #expect(page.hasPrefix("/links/lnk_") && visitors == "10")
        #expect(
            try tab.value(of: "document.querySelector('main tbody').textContent").contains(
                "shopapp://promo/item"
            )
        )
        let shown =
            "(async () => { const code = document.getElementById('code'); code.scrollIntoView();"
            + " await code.decode(); return code.naturalWidth > 0; })()"
        #expect(try tab.value(of: shown) == "1")
        let scanned = try #require(try QRReader.text(of: try tab.screenshot()))
        #expect(scanned == "https://\(LinkStage.host)/summer25?source=qr")

        let phones = try Chromium(hosts: [LinkStage.host], port: stage.server.port)
        defer { phones.close() }
        let phone = try BrowserTab(in: phones, as: try Journey.named("safari").visitor)
        defer { phone.close() }
        try tab.openPage("Live", key: "v")
        let rows = "[...document.querySelectorAll('#live tbody tr')].map(e => e.cells[1].textContent).join()"
        #expect(try tab.value(of: rows) == "")
        try phone.open(scanned)
        #expect(try phone.click().status == 201)
        #expect(try tab.awaitLive("Click", of: rows))
        try tab.open("http://localhost" + page)
        let figures = "[...document.querySelectorAll('.figure')].map(e => e.textContent).join()"
        #expect(try tab.value(of: figures) == "1,0,0 %,0")
        #expect(try tab.value(of: "document.querySelector('main').textContent").contains("cannot be deleted"))

        try tab.focus("Archive")
        try tab.press("Enter", opens: true)
        #expect(try tab.value(of: "document.querySelector('main .bad').textContent").contains("was archived"))
        try phone.open(scanned)
        #expect(try phone.value(of: "document.querySelectorAll('script').length") == "0")
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
        #expect(tab.askedHosts == ["localhost"])
    }

    @Test(
        "the pages of links fit every width in light and dark, and load a preview's picture but nothing else"
    )
    func widths() throws {
        let stage = try Self.stage()
        let connection = try stage.server.connect(tls: TLSClientSettings())
        let fields = [
            "Authorization": "Bearer \(stage.installation.keys.admin)", "Content-Type": "application/json",
        ]
        var id = ""
        for number in 1...6 {
            let body =
                #"{"slug":"summer-sale-\#(number)","title":"Summer sale in the newsletter, week \#(number)","#
                + #""campaign_key":"SUMMER-2027","source":"newsletter","tags":["mail","summer"],"#
                + #""metadata":{"offer":"beach","percent":40},"preview_title":"Up to 40 % off","#
                + #""preview_description":"Two weeks of everything for the beach and for long evenings.","#
                + #""preview_image":"https://shop.example/icon.svg","#
                + #""variants":[{"name":"short","weight":1,"destination":"/promo/summer"},{"name":"long","weight":3,"#
                + #""destination":"/promo/summer/with/a/long/path/\#(String(repeating: "x", count: 90))"}]}"#
            let reply = try connection.call("POST", "/admin/api/links", fields: fields, body: body)
            id = try #require(reply.string("id"), "\(reply.text)")
        }
        let tab = try stage.signedIn()
        for page in ["/links", "/links/\(id)", "/links/\(id)/edit", "/links/new"] {
            try tab.checkWidths(of: page)
        }
        #expect(tab.askedHosts == ["localhost", "shop.example"])
        #expect(tab.complaints.isEmpty, "\(tab.complaints)")
    }
}
