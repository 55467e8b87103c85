import Foundation
import Support
import Testing

@Suite("Links on the command line", .blocking)
struct LinkCommandTests {
    private func json(_ output: ChildProcess.Output) throws -> [String: Any] {
        #expect(output.status == 0, "\(output.errors)")
        return try #require(try JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any])
    }

    private func link(_ output: ChildProcess.Output) throws -> [String: Any] {
        try #require(try json(output)["link"] as? [String: Any])
    }

    private func slugs(_ installation: Installation, _ words: [String] = []) throws -> [String] {
        let listed = try json(installation.run(["links", "list", "--json"] + words))
        let links = try #require(listed["links"] as? [[String: Any]])
        return links.compactMap { $0["slug"] as? String }
    }

    /// Returns an installation whose app has a link host, a scheme and a web host.
    private func shop(isCopy: Bool = true) throws -> Installation {
        let installation = try Installation(isCopy: isCopy)
        let output = try installation.run([
            "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "shopapp", "--android-scheme",
            "shopapp", "--web-host", "shop.example", "--ios-team", "ABCDE12345", "--ios-bundle",
            "com.example.shop", "--ios-store-id", "1234567890", "--android-package", "com.example.shop",
            "--web-credentials", "on", "--json",
        ])
        let app = try #require(try json(output)["app"] as? [String: Any])
        #expect(app["link_hosts"] as? [String] == ["go.shop.example"])
        #expect(app["web_credentials"] as? Bool == true)
        return installation
    }

    @Test(
        "the refusal of an option that is on or off names these two values",
        arguments: ["--web-credentials", "--apple-ads", "--apple-development-postbacks"]
    )
    func onOrOff(option: String) throws {
        let refused = try Installation(isCopy: true).run(["apps", "set", option, "yes"])
        #expect(refused.status == 2)
        #expect(refused.errors.hasPrefix("afterlink: \(option) must be on or off.\n"), "\(refused.errors)")
    }

    @Test(
        "`none` and `any` beside hosts are refused, and not stored as hosts",
        arguments: [("--link-host", "none"), ("--web-host", "none"), ("--web-host", "any")]
    )
    func contradiction(option: String, word: String) throws {
        let installation = try Installation()
        for values in [[word, "shop.example"], ["shop.example", word]] {
            let refused = try installation.run(["apps", "set"] + values.flatMap { [option, $0] })
            #expect(refused.status == 2)
            #expect(refused.errors.contains("\(option) \(word) contradicts"), "\(refused.errors)")
            #expect(try installation.run(["apps", "set", option, word]).status == 0)
        }
    }

    @Test("the refusal of a link's field names the option")
    func namedOptions() throws {
        let installation = try shop()
        #expect(try installation.run(["links", "create", "a", "--destination", "/a"]).status == 0)
        for (option, value) in [
            ("--expires-at", "2020-01-01"), ("--maximum-clicks", "0"), ("--attribution-window", "59"),
            ("--preview-title", String(repeating: "x", count: 251)), ("--ios-fallback", "x"),
        ] {
            for words in [["create", "b", "--destination", "/b"], ["set", "a"]] {
                let refused = try installation.run(["links"] + words + [option, value])
                #expect(refused.status == 2)
                #expect(refused.errors.hasPrefix("afterlink: \(option)"), "\(refused.errors)")
            }
        }
    }

    @Test("the shortest example of the README: a key, a link, a simulated tap, a click and a match")
    func shortestWay() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let key = installation.folder.appending(path: "app.key").path
        try installation.run(["keys", "create", "--kind", "app"]).text
            .write(toFile: key, atomically: true, encoding: .utf8)
        for words in [
            [
                "apps", "set", "--link-host", "go.shop.example", "--ios-scheme", "myapp", "--android-scheme",
                "myapp",
            ],
            ["links", "create", "summer25", "--destination", "/promo/summer", "--campaign-key", "SUMMER25"],
            [
                "simulate", "--link", "summer25", "--as", "app", "--key-file", key, "--server",
                "http://127.0.0.1:\(server.port)",
            ],
        ] {
            let output = try installation.run(words)
            #expect(output.status == 0, "\(words): \(output.text) \(output.errors)")
        }
        let shown = try link(installation.run(["links", "show", "summer25", "--json"]))
        #expect(shown["clicks"] as? Int == 1 && shown["matches"] as? Int == 1)
        let refused = try installation.run(["links", "delete", "summer25"])
        #expect(refused.status == 1 && refused.errors.contains("links archive"))
    }

    @Test("links are created, changed, archived, restored and deleted; every refusal has advice")
    func life() throws {
        let installation = try shop()
        let made = try link(
            installation.run(["links", "create", "a", "--destination", "shopapp://a", "--json"])
        )
        let id = try #require(made["id"] as? String)
        let changed = try link(
            installation.run(["links", "set", "a", "--title", "T", "--tag", "x", "--tag", "y", "--json"])
        )
        #expect(changed["title"] as? String == "T" && changed["tags"] as? [String] == ["x", "y"])
        let cleared = try link(installation.run(["links", "set", id, "--title", "", "--json"]))
        #expect(cleared["title"] == nil && cleared["tags"] != nil)
        #expect(
            try link(installation.run(["links", "archive", "a", "--json"]))["ending"] as? String == "archived"
        )
        #expect(try slugs(installation).isEmpty)
        #expect(try slugs(installation, ["--archived"]) == ["a"])
        #expect(try link(installation.run(["links", "restore", "a", "--json"]))["ending"] == nil)
        #expect(try installation.run(["links", "list"]).text.contains("https://go.shop.example/a"))
        #expect(try installation.run(["links", "show", "a"]).text.contains("shopapp://a"))
        // A value that cannot be right is wrong use, for apps as for links; what the database contradicts is a failure.
        let refusals: [(words: String, status: Int32, part: String)] = [
            ("links create a --destination shopapp://b", 1, "is taken"),
            ("links create admin --destination shopapp://b", 2, "choose another slug"),
            ("links create b --destination https://evil.example/x", 2, "--web-host evil.example"),
            ("links create b --destination shopapp:///x --metadata x", 2, "metadata must be"),
            ("links create b --destination javascript:x", 2, "destination"),
            ("apps set --destination javascript:x", 2, "--destination"),
            ("links set a --maximum-clicks 0", 2, "afterlink: --maximum-clicks must be"),
            ("links show none", 1, "There is no link"), ("links archive lnk_1", 1, "There is no link"),
        ]
        for (words, status, part) in refusals {
            let output = try installation.run(words.split(separator: " ").map(String.init))
            #expect(output.status == status, "\(words)")
            #expect(output.errors.contains(part), "\(output.errors)")
        }
        #expect(try installation.run(["links", "set", "a"]).status == 2)
        #expect(
            try installation.run(["apps", "set", "--link-host", "https://x"]).errors.contains(
                "--link-host must be"
            )
        )
        #expect(try installation.run(["links", "delete", "a"]).status == 0)
        #expect(try installation.run(["links", "show", "a"]).status == 1)
    }

    @Test("an app gets no link host on which a slug would lead to two links; the refusal has advice")
    func sharedHosts() throws {
        let installation = try shop()
        let name = try #require(
            (try json(installation.run(["apps", "list", "--json"]))["apps"] as? [[String: Any]])?.first?[
                "name"
            ] as? String
        )
        #expect(try installation.run(["apps", "create", "Wear", "--ios-scheme", "wear"]).status == 0)
        for app in [name, "Wear"] {
            let scheme = app == "Wear" ? "wear" : "shopapp"
            let made = try installation.run([
                "links", "create", "summer", "--app", app, "--destination", "\(scheme)://x",
            ])
            #expect(made.status == 0, "\(made.errors)")
        }
        let words = ["apps", "set", "--app", "Wear", "--link-host", "go.shop.example"]
        let refused = try installation.run(words)
        #expect(refused.status == 1)
        for part in ["Wear and \(name) both have a link summer", "links delete", "links show"] {
            #expect(refused.errors.contains(part), "\(refused.errors)")
        }
        #expect(try installation.run(["links", "delete", "summer", "--app", "Wear"]).status == 0)
        #expect(try installation.run(words).status == 0)
    }

    @Test("an import restores an export in both forms, with escaped formulas")
    func exportImport() throws {
        let installation = try shop()
        let words = [
            [
                "one", "--destination", "shopapp://a", "--title", "=HYPERLINK(\"x\")", "--tag", "a", "--tag",
                "b c", "--metadata", #"{"a":"x,y"}"#, "--pasteboard", "true", "--attribution-window", "3600",
            ],
            ["two", "--variant", "x 1 /x", "--variant", "y 2 shopapp://y?a=1", "--campaign-key", "+49, 'x'"],
            ["three", "--destination", "shopapp://c"],
        ]
        for words in words { #expect(try installation.run(["links", "create"] + words).status == 0) }
        #expect(try installation.run(["links", "archive", "three"]).status == 0)
        for format in ["csv", "json"] {
            let file = installation.folder.appending(path: "links.\(format)").path
            let output = try installation.run(["links", "export", "--format", format, "--output", file])
            #expect(output.status == 0, "\(output.errors)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let isEscaped = text.contains("\"'=HYPERLINK") && text.contains("\"'+49, 'x'\"")
            #expect(format == "json" || isEscaped)
            #expect(try installation.run(["links", "export", "--output", file]).status == 1)
            let other = try shop(isCopy: false)
            let refused = try other.run(["links", "import", file, "--check"])
            #expect(refused.status == 1 && refused.text.contains("no app \(installation.appID)"))
            #expect(try other.run(["links", "import", file, "--check", "--app", "app"]).status == 0)
            let own = text.replacing(installation.appID, with: other.appID)
            try own.write(toFile: file, atomically: true, encoding: .utf8)
            let made = try json(other.run(["links", "import", file, "--all-or-nothing", "--json"]))
            #expect(made["made"] as? Int == 3 && made["refused"] as? Int == 0)
            for slug in ["one", "two", "three"] {
                var (first, second) = (
                    try link(installation.run(["links", "show", slug, "--json"])),
                    try link(other.run(["links", "show", slug, "--json"]))
                )
                for name in ["id", "app", "created_at", "updated_at"] {
                    first[name] = nil
                    second[name] = nil
                }
                #expect(NSDictionary(dictionary: first) == NSDictionary(dictionary: second), "\(slug)")
            }
            let again = try other.run(["links", "import", file])
            #expect(again.status == 1 && again.text.contains("Created 0 links; 3 were refused."))
        }
    }

    @Test("an import names every wrong line, and creates the others or none")
    func importReport() throws {
        let installation = try shop()
        let file = installation.folder.appending(path: "links.csv").path
        let text = """
            slug,destination,tags,maximum_clicks
            good,shopapp://a,"a, b",5
            admin,shopapp://a,,
            lost,shopapp:///a,,
            many,shopapp://a,,0
            good,shopapp://b,,
            ,shopapp://c,,
            short,shopapp://d
            """
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        for words in [["--check"], ["--all-or-nothing"]] {
            let output = try installation.run(["links", "import", file] + words)
            #expect(output.status == 1)
            for part in [
                "line 3 (admin): The service itself", "line 4 (lost): destination",
                "line 5 (many): maximum_clicks",
                "line 6 (good): The slug good is taken", "line 8: The line has 2 cells",
            ] { #expect(output.text.contains(part), "\(part) in \(output.text)") }
            #expect(try slugs(installation).isEmpty)
        }
        let output = try installation.run(["links", "import", file, "--json"])
        #expect(output.status == 1)
        let report = try #require(JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any])
        #expect(report["made"] as? Int == 2 && report["refused"] as? Int == 5)
        #expect((report["lines"] as? [[String: Any]])?.count == 7)
        #expect(try slugs(installation, ["--tag", "b"]) == ["good"])
        #expect(try slugs(installation).count == 2)
        try "slug,destinaton\na,b\n".write(toFile: file, atomically: true, encoding: .utf8)
        let unknown = try installation.run(["links", "import", file])
        #expect(unknown.status == 1 && unknown.errors.contains("there is no column \"destinaton\""))
        try "{\"links\":3}".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try installation.run(["links", "import", file]).errors.contains("no list of links"))
        #expect(
            try installation.run(["links", "import", file + ".none"]).errors.contains("could not be read")
        )
    }
}
