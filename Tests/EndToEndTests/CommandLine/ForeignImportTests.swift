import Foundation
import Support
import Testing

/// Exports of other services, written from their documentation and not taken from a real account.
@Suite("Imports of other services' links", .blocking)
struct ForeignImportTests {
    /// The columns in the words and the order of Firebase's "Export Dynamic Links metadata".
    private static let documentedColumns = [
        "Short link", "Deep link (link)", "Android package name (apn)", "Android fallback link (afl)",
        "Android minimum package version code (amv)", "iOS bundle ID (ibi)", "iOS fallback link (ifl)",
        "iOS custom scheme (ius)", "iOS iPad fallback link (ipfl)", "iOS iPad bundle ID (ipbi)",
        "iOS app store ID (isi)", "iOS minimum version (imv)", "Enable forced redirect? (efr)",
        "Desktop fallback link (ofl)", "Social title (st)", "Social description (sd)",
        "Social image link (si)",
        "UTM source (utm_source)", "UTM medium (utm_medium)", "UTM campaign (utm_campaign)",
        "UTM term (utm_term)", "UTM content (utm_content)", "iTunes Connect at", "iTunes Connect ct",
        "iTunes Connect mt", "iTunes Connect pt", "Archived?", "Link name", "Creation timestamp",
    ]
    /// The same columns with the short names that exported files have.
    private static let shortColumns = [
        "short_link", "link", "apn", "afl", "amv", "ibi", "ifl", "ius", "ipfl", "ipbi", "isi", "imv", "efr",
        "ofl", "st", "sd", "si", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "at",
        "ct", "mt", "pt", "archived", "name", "creation_timestamp",
    ]

    /// A line with a value in every column except `ifl`: that fallback would hide the parameters for Apple's
    /// store.
    private static let whole = [
        "https://example.page.link/m9Mm", "https://shop.example/promo?id=1", "com.example.shop",
        "https://shop.example/android", "12", "com.example.shop", "", "other", "https://shop.example/ipad",
        "com.example.shop", "1234567890", "1.2", "true", "https://shop.example/desktop", "Summer, sale",
        "All of \"it\"", "https://shop.example/p.png", "newsletter", "email", "summer", "shoes", "banner",
        "aff", "camp 1", "8", "99", "false", "Summer link", "2020-05-06T07:08:09.123Z",
    ]

    private static func line(_ values: [String: String], archived: String = "false") -> [String] {
        shortColumns.map { values[$0] ?? ($0 == "archived" ? archived : "") }
    }

    private static func csv(_ lines: [[String]]) -> String {
        lines.map { line in
            line.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\r\n"
        }.joined()
    }

    private func json(_ output: ChildProcess.Output) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any],
            "\(output.errors)"
        )
    }

    private func link(_ slug: String, _ installation: Installation) throws -> [String: Any] {
        try #require(try json(installation.run(["links", "show", slug, "--json"]))["link"] as? [String: Any])
    }

    private func shop(_ words: [String] = []) throws -> Installation {
        let installation = try Installation()
        let output = try installation.run(
            [
                "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp",
                "--android-scheme", "shopapp", "--web-host", "shop.example", "--ios-bundle",
                "com.example.shop", "--ios-store-id", "1234567890", "--android-package", "com.example.shop",
            ] + words
        )
        #expect(output.status == 0, "\(output.errors)")
        return installation
    }

    private func file(_ text: String, in installation: Installation) throws -> String {
        let path = installation.folder.appending(path: "foreign.csv").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(
        "a Firebase export's columns are imported if links have a field for them; the others are counted",
        arguments: [documentedColumns, shortColumns]
    )
    func firebaseColumns(header: [String]) throws {
        #expect(header.count == 29 && Self.whole.count == 29)
        let installation = try shop()
        let file = try file(Self.csv([header, Self.whole]), in: installation)
        let report = try json(installation.run(["links", "import", file, "--from", "firebase", "--json"]))
        #expect(report["made"] as? Int == 1 && report["refused"] as? Int == 0, "\(report)")
        let remarks = try #require(report["remarks"] as? [String]).joined(separator: "\n")
        for part in [
            "efr (1 link)", "ipfl (1 link)", "ius (1 link)", "example.page.link, which is no link host",
            "can never lead here",
        ] { #expect(remarks.contains(part), "\(remarks)") }
        let link = try link("m9Mm", installation)
        for (name, value) in [
            ("url", "https://go.shop.example/m9Mm"), ("title", "Summer link"),
            ("destination", "https://shop.example/promo?id=1"),
            ("android_fallback", "https://shop.example/android"),
            ("desktop_url", "https://shop.example/desktop"),
            ("ios_fallback", "https://apps.apple.com/app/id1234567890?pt=99&at=aff&ct=camp%201&mt=8"),
            ("preview_title", "Summer, sale"), ("preview_description", "All of \"it\""),
            ("preview_image", "https://shop.example/p.png"), ("utm_source", "newsletter"),
            ("utm_medium", "email"), ("utm_campaign", "summer"), ("utm_term", "shoes"),
            ("utm_content", "banner"), ("campaign_key", "summer"), ("created_at", "2020-05-06T07:08:09.123Z"),
        ] { #expect(link[name] as? String == value, "\(name): \(link[name] ?? "nothing")") }
        #expect(link["metadata"] as? [String: String] == ["amv": "12", "imv": "1.2"])
        #expect(link["ending"] == nil)
    }

    @Test("an import keeps a Firebase link's slug and prefix, its archiving and its time of creation")
    func firebaseForms() throws {
        let installation = try shop()
        let link = "https://shop.example/x"
        let lines = [
            Self.line([
                "short_link": "https://shop.example/links/Ab-9_", "link": link,
                "creation_timestamp": "1588748889123",
            ]),
            Self.line([
                "short_link": "http://example.page.link/b?x=1", "link": link,
                "creation_timestamp": "2020-05-06 07:08:09.5 UTC",
            ]),
            Self.line(
                ["short_link": "example.page.link/c", "link": link, "creation_timestamp": "May 6"],
                archived: "true"
            ),
        ]
        let file = try file(Self.csv([Self.shortColumns] + lines), in: installation)
        let output = try installation.run(["links", "import", file, "--from", "firebase"])
        #expect(output.status == 0, "\(output.text)")
        for part in [
            "because it is not a time: creation_timestamp (1 link)",
            "1 link came from shop.example, which is no link host of the app: it leads here after a change of its DNS",
        ] { #expect(output.text.contains(part), "\(output.text)") }
        #expect(output.text.contains("Created 3 links; 0 were refused."))
        for (slug, createdAt) in [
            ("links/Ab-9_", "2020-05-06T07:08:09.123Z"), ("b", "2020-05-06T07:08:09.500Z"), ("c", nil),
        ] as [(String, String?)] {
            let made = try self.link(slug, installation)
            if let createdAt { #expect(made["created_at"] as? String == createdAt) }
            #expect((made["ending"] as? String == "archived") == (slug == "c"))
        }
    }

    @Test("wrong lines of Firebase links are refused with advice, and the others or none are imported")
    func firebaseRefusals() throws {
        let installation = try shop()
        let link = "https://shop.example/x"
        let lines = [
            Self.line(["short_link": "https://a.page.link/good", "link": link]),
            Self.line(["short_link": "https://a.page.link/foreign", "link": link, "apn": "com.other"]),
            Self.line(["short_link": "https://a.page.link/evil", "link": "https://evil.example/x"]),
            Self.line(["short_link": "https://a.page.link/lost", "link": "https://shop.example/"]),
            Self.line(["short_link": "https://a.page.link/", "link": link]),
            Self.line(["short_link": "", "link": link]),
            Self.line(["short_link": "https://a.page.link/good", "link": link]),
            Self.line([
                "short_link": "https://a.page.link/plain", "link": link, "ofl": "http://shop.example/",
            ]),
        ]
        let file = try file(Self.csv([Self.shortColumns] + lines), in: installation)
        for words in [["--check"], ["--all-or-nothing"]] {
            let output = try installation.run(["links", "import", file, "--from", "firebase"] + words)
            #expect(output.status == 1)
            for part in [
                "line 3 (foreign): apn is com.other, but the app's package is com.example.shop",
                "line 4 (evil): destination leads to evil.example", "--web-host evil.example",
                "line 5 (lost): destination:", "line 6: short_link must be an address",
                "line 7: The line has no short link", "line 8 (good): The slug good is taken",
                "line 9 (plain): desktop_url:",
                words == ["--check"] ? "1 link could be created, 7 not." : "Created 0 links; 7 were refused.",
            ] { #expect(output.text.contains(part), "\(part) in \(output.text)") }
            #expect(try json(installation.run(["links", "list", "--json"]))["links"] as? [String] == [])
        }
        #expect(
            try installation.run(["links", "import", file, "--from", "firebase"]).text.contains(
                "Created 1 link; 7 were"
            )
        )
        _ = try self.link("good", installation)
        let own = try installation.run(["links", "import", file])
        #expect(own.status == 1 && own.errors.contains("give --from firebase"))
        let wrong = try installation.run(["links", "import", file, "--from", "bitly"])
        #expect(wrong.status == 2 && wrong.errors.contains("must be firebase or branch"))
        try "slug,destination\na,shopapp://a\n".write(toFile: file, atomically: true, encoding: .utf8)
        let none = try installation.run(["links", "import", file, "--from", "firebase"])
        #expect(none.status == 1 && none.errors.contains("short_link and link"))
    }

    @Test("an imported Firebase link belongs to the app whose package or bundle its line names")
    func firebaseApps() throws {
        let installation = try shop()
        let output = try installation.run([
            "apps", "create", "Wear", "--android-package", "com.example.wear", "--web-host", "shop.example",
        ])
        #expect(output.status == 0, "\(output.errors)")
        let lines = [
            Self.line([
                "short_link": "https://a.page.link/wear", "link": "https://shop.example/x",
                "apn": "com.example.wear",
            ]),
            Self.line([
                "short_link": "https://a.page.link/shop", "link": "https://shop.example/x",
                "ibi": "com.example.shop",
            ]),
            Self.line(["short_link": "https://a.page.link/none", "link": "https://shop.example/x"]),
        ]
        let file = try file(Self.csv([Self.shortColumns] + lines), in: installation)
        let made = try installation.run(["links", "import", file, "--from", "firebase"])
        #expect(made.text.contains("line 4 (none): The line names no app"), "\(made.text)")
        #expect(try link("wear", installation)["app"] as? String != installation.appID)
        #expect(try link("shop", installation)["app"] as? String == installation.appID)
    }

    @Test("Branch's labels and link data are imported, in columns or as one JSON object")
    func branch() throws {
        let installation = try shop()
        let columns = [
            "Link Title", "url", "$deeplink_path", "$ios_deeplink_path", "$desktop_url", "$fallback_url",
            "campaign", "channel", "feature", "tags", "$og_title", "$og_description", "$og_image_url",
            "$match_duration", "$ios_passive_deepview", "Clicks", "creation date",
        ]
        let values = [
            "Spring", "https://example.app.link/spring-launch", "promo/item?x=1", "shopapp://ios/item",
            "https://shop.example/desktop", "https://shop.example/else", "spring", "facebook", "sharing",
            "a, b", "Title", "Text", "https://shop.example/p.png", "7200", "x", "17", "2023-01-02",
        ]
        let data =
            #"{"$deeplink_path":"/promo","$marketing_title":"T","~campaign":"c","~tags":["x","y"],"~feature":"f","#
            + #""product":{"id":7},"$canonical_identifier":"content/1","$one_time_use":false,"price":12.50}"#
        let first = try file(Self.csv([columns, values]), in: installation)
        let report = try json(installation.run(["links", "import", first, "--from", "branch", "--json"]))
        #expect(report["made"] as? Int == 1, "\(report)")
        let remarks = try #require(report["remarks"] as? [String]).joined(separator: "\n")
        #expect(remarks.contains("$ios_passive_deepview (1 link)") && remarks.contains("Clicks (1 link)"))
        let spring = try link("spring-launch", installation)
        for (name, value) in [
            ("title", "Spring"), ("destination", "/promo/item?x=1"),
            ("ios_destination", "shopapp://ios/item"), ("desktop_url", "https://shop.example/desktop"),
            ("ios_fallback", "https://shop.example/else"), ("android_fallback", "https://shop.example/else"),
            ("campaign_key", "spring"), ("source", "facebook"), ("preview_title", "Title"),
            ("preview_description", "Text"), ("preview_image", "https://shop.example/p.png"),
            ("created_at", "2023-01-02T00:00:00.000Z"),
        ] { #expect(spring[name] as? String == value, "\(name): \(spring[name] ?? "nothing")") }
        #expect(spring["tags"] as? [String] == ["a", "b"])
        #expect(spring["attribution_window_seconds"] as? Int == 7200)
        #expect(spring["metadata"] as? [String: String] == ["~feature": "sharing"])
        let second = try file(
            Self.csv([["alias", "data"], ["whole", data], ["broken", "[1]"], ["", data]]),
            in: installation
        )
        let output = try installation.run(["links", "import", second, "--from", "branch"])
        for part in [
            "line 3 (broken): data must be a JSON object", "line 4: The link has neither url nor alias",
        ] {
            #expect(output.text.contains(part), "\(output.text)")
        }
        let whole = try link("whole", installation)
        #expect(whole["destination"] as? String == "/promo" && whole["title"] as? String == "T")
        #expect(whole["tags"] as? [String] == ["x", "y"] && whole["campaign_key"] as? String == "c")
        let metadata = try #require(whole["metadata"] as? [String: Any])
        #expect(Set(metadata.keys) == ["~feature", "product", "$canonical_identifier", "price"])
        #expect((metadata["product"] as? [String: Int]) == ["id": 7])
        let none = try file("name,clicks\na,1\n", in: installation)
        let refused = try installation.run(["links", "import", none, "--from", "branch"])
        #expect(refused.status == 1 && refused.errors.contains("a column url or alias"))
    }
}
