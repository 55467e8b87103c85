import Dispatch
import Foundation
import Support
import Synchronization
import Testing

@Suite("Apps and keys on the command line", .blocking)
struct AppsAndKeysTests {
    private func json(_ output: ChildProcess.Output) throws -> [String: Any] {
        #expect(output.status == 0, "\(output.errors)")
        return try #require(try JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any])
    }

    @Test("init prints one JSON object with the app and a key of each kind, and fails the second time")
    func initialise() throws {
        let folder = try TemporaryFolder()
        let database = folder.file("new.db")
        let first = try json(Installation.run(["init", "--database", database, "--json"]))
        #expect(Set(first.keys) == ["app", "keys"])
        let app = try #require(first["app"] as? [String: String])
        #expect(app["id"]?.hasPrefix("app_") == true && app["name"] == "app")
        let keys = try #require(first["keys"] as? [String: String])
        #expect(Set(keys.keys) == ["app", "server", "test", "admin"])
        for (kind, key) in keys {
            #expect(key.hasPrefix("\(kind)_") && key.utf8.count >= 43 + kind.utf8.count)
        }
        let second = try Installation.run(["init", "--database", database, "--json"])
        #expect(second.status == 1)
        #expect(second.text.isEmpty)
        #expect(second.errors.contains("has an app already"))
    }

    @Test("only the owner can read a new data directory, its database and its server key")
    func modes() throws {
        let folder = try TemporaryFolder()
        #expect(try Installation.run(["init", "--data-directory", folder.file("data")]).status == 0)
        for name in ["data/afterlink.db", "data/afterlink.db.key"] {
            let mode =
                try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        let mode =
            try FileManager.default.attributesOfItem(atPath: folder.file("data"))[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test("of several simultaneous inits on one path, one creates the database, and the others report it")
    func initialisedAtOnce() throws {
        let folder = try TemporaryFolder()
        for round in 0..<4 {
            let outputs = Mutex<[ChildProcess.Output]>([])
            let path = folder.file("\(round).db")
            DispatchQueue.concurrentPerform(iterations: 3) { _ in
                let output = try? Installation.run(["init", "--database", path, "--json"])
                outputs.withLock { $0 += [output].compactMap(\.self) }
            }
            let all = outputs.withLock { $0 }
            #expect(all.count == 3)
            #expect(all.count { $0.status == 0 } == 1)
            #expect(all.allSatisfy { $0.status == 0 || $0.errors.contains("has an app already") })
        }
    }

    @Test(
        "keys that the operator supplies are the only keys, and `init` prints no key",
        arguments: [true, false]
    )
    func broughtKeys(asJSON: Bool) throws {
        let folder = try TemporaryFolder()
        let (app, admin) = (String(repeating: "a", count: 32), String(repeating: "b", count: 40))
        let output = try Installation.run(
            ["init", "--database", folder.file("x.db")] + (asJSON ? ["--json"] : []),
            environment: ["AFTERLINK_INITIAL_APP_KEY": app, "AFTERLINK_INITIAL_ADMIN_KEY": admin]
        )
        #expect(output.status == 0, "\(output.errors)")
        #expect(!output.text.contains(app) && !output.text.contains(admin))
        #expect(output.text.firstMatch(of: /(app|server|test|admin)_[A-Za-z0-9_-]{40}/) == nil)
        if asJSON {
            let printed = try json(output)
            #expect(Set(printed.keys) == ["app", "keys"])
            #expect(printed["keys"] as? [String: String] == [:])
        } else {
            #expect(output.text.contains("those that you supplied"))
        }
        let list = try Installation.run(["keys", "list", "--database", folder.file("x.db")])
        #expect(list.text.split(separator: "\n").count == 3)
    }

    @Test("apps are created, listed and changed; two apps cannot have one name")
    func apps() throws {
        let installation = try Installation()
        let made = try json(
            installation.run([
                "apps", "create", "Shop", "--destination", "shop://", "--open-clicks", "off", "--json",
            ])
        )
        let app = try #require(made["app"] as? [String: Any])
        let id = try #require(app["id"] as? String)
        #expect(app["open_clicks"] as? Bool == false)
        #expect(app["destinations"] as? [String] == ["shop://"])
        #expect(app["attribution_window"] == nil, "no window of its own")

        let again = try installation.run(["apps", "create", "Shop"])
        #expect(again.status == 1 && again.errors.contains("There is an app named \"Shop\" already"))

        let changed = try json(
            installation.run([
                "apps", "set", "--app", "Shop", "--name", "Store", "--attribution-window", "3600",
                "--destination", "any", "--allowed-origin", "https://Shop.example", "--localization", "tr",
                "--localization", "pt-BR", "--development-language", "tr", "--json",
            ])
        )
        let after = try #require(changed["app"] as? [String: Any])
        #expect(after["id"] as? String == id)
        #expect(after["name"] as? String == "Store")
        #expect(after["attribution_window"] as? Int == 3600)
        #expect(after["destinations"] as? [String] == [])
        #expect(after["allowed_origins"] as? [String] == ["https://shop.example"])
        #expect(after["open_clicks"] as? Bool == false)
        #expect(after["localizations"] as? [String] == ["tr", "pt-BR"])
        #expect(after["development_language"] as? String == "tr")
        #expect(try installation.run(["apps", "list"]).text.contains("tr pt-BR (tr)"))
        let forgotten = try json(
            installation.run([
                "apps", "set", "--app", "Store", "--localization", "none", "--development-language", "none",
                "--json",
            ])
        )
        let last = try #require(forgotten["app"] as? [String: Any])
        #expect(last["localizations"] as? [String] == [] && last["development_language"] == nil)

        let list = try json(installation.run(["apps", "list", "--json"]))
        #expect((list["apps"] as? [[String: Any]])?.map { $0["name"] as? String } == ["app", "Store"])
    }

    @Test("an app's policy is set and shown, and refused if it contradicts itself")
    func matchingPolicy() throws {
        let installation = try Installation()
        let list = try json(installation.run(["apps", "list", "--json"]))
        let usual = try #require((list["apps"] as? [[String: Any]])?.first)
        #expect(usual["matching"] as? String == "probability")
        #expect(usual["minimum_confidence"] as? Double == 0.7)
        #expect(usual["on_ambiguity"] as? String == "noMatch")
        #expect(usual["fingerprinting"] as? Bool == true)
        #expect(usual["default_link"] == nil)

        let refused = try installation.run(["apps", "set", "--on-ambiguity", "campaignOnly"])
        #expect(refused.status == 2 && refused.errors.contains("--default-link"))
        let options = [
            "--minimum-confidence", "0.85", "--on-ambiguity", "campaignOnly", "--default-link",
            "myapp://home",
        ]
        let set = try json(installation.run(["apps", "set"] + options + ["--json"]))
        let app = try #require(set["app"] as? [String: Any])
        #expect(app["minimum_confidence"] as? Double == 0.85)
        #expect(app["on_ambiguity"] as? String == "campaignOnly")
        #expect(app["default_link"] as? String == "myapp://home")
        let table = try installation.run(["apps", "list"]).text
        #expect(table.contains("probability 0.85, else campaignOnly myapp://home"))
        // The policy needs the link, so the link cannot be removed.
        #expect(try installation.run(["apps", "set", "--default-link", "none"]).status == 2)

        #expect(try installation.run(["apps", "set", "--matching", "newest"]).text.contains("newest"))
        #expect(
            try installation.run(["apps", "set", "--fingerprinting", "off"]).text.contains("tokens and ids")
        )
        let without = ["apps", "set", "--on-ambiguity", "noMatch", "--default-link", "none", "--json"]
        let last = try #require(try json(installation.run(without))["app"] as? [String: Any])
        #expect(last["default_link"] == nil && last["fingerprinting"] as? Bool == false)
        for (option, value) in [
            ("--minimum-confidence", "1.1"), ("--minimum-confidence", "-0.1"),
            ("--minimum-confidence", "nan"), ("--minimum-confidence", "1e-1"), ("--matching", "oldest"),
            ("--on-ambiguity", "nomatch"), ("--fingerprinting", "yes"), ("--default-link", "myapp:///x"),
        ] {
            let wrong = try installation.run(["apps", "set", option, value])
            #expect(wrong.status == 2, "\(option) \(value)")
            #expect(wrong.errors.contains(option))
        }
    }

    @Test("`apps set` prints a line for each setting that changed")
    func printsChanges() throws {
        let installation = try Installation()
        let first = try installation.run([
            "apps", "set", "--link-host", "go.shop.example", "--link-rule", "/products/*",
            "--link-rule", "exclude /terms", "--ios-scheme", "shopapp",
        ])
        let rules = "link_rules: /products/*, exclude /terms"
        #expect(first.text.hasSuffix("\n\nios_scheme: shopapp\nlink_hosts: go.shop.example\n\(rules)\n"))
        let second = try installation.run([
            "apps", "set", "--ios-scheme", "none", "--link-host", "go.shop.example",
        ])
        #expect(second.text.hasSuffix("\n\nios_scheme: none\n"))
        let same = try installation.run(["apps", "set", "--link-host", "go.shop.example"])
        #expect(!same.text.contains("link_hosts"))
    }

    @Test("creating a second app explains how clicks without a key must name their app")
    func secondApp() throws {
        let (installation, _, connection) = try Installation.serving()
        #expect(try connection.click(fingerprint(1)).status == 201)
        let second = try installation.run(["apps", "create", "Shop"])
        #expect(second.status == 0 && second.text.hasPrefix("Created the app \"Shop\""))
        #expect(second.errors.contains("There are 2 apps: a click without a key must name its app"))
        let id = try #require(second.text.components(separatedBy: ", ").last?.prefix { $0 != "." })
        #expect(second.errors.contains("\"app\":\"\(id)\"") && second.errors.contains("--allowed-origin"))
        #expect(second.errors.contains("\"app\":\"\(installation.appID)\"  for app"))
        // The running server applies the change.
        #expect(try Polling.until { try connection.click(fingerprint(2)).status == 400 })
        #expect(try connection.click(fingerprint(2), ["app": String(id)]).status == 201)
        let third = try installation.run(["apps", "create", "Blog", "--json"])
        #expect(third.errors.contains("There are 3 apps: a click without a key"))
        #expect(try JSONSerialization.jsonObject(with: third.standardOutput) is [String: Any])
        let first = try Installation.run(["init", "--database", installation.database.path + "2"])
        #expect(!first.errors.contains("without a key"))
    }

    @Test("with several apps, a command requires the name or id of one app")
    func whichApp() throws {
        let installation = try Installation()
        #expect(try installation.run(["keys", "create", "--kind", "app"]).status == 0)
        #expect(try installation.run(["apps", "create", "--name", "Shop"]).status == 0)
        let unclear = try installation.run(["keys", "create", "--kind", "app"])
        #expect(unclear.status == 2)
        #expect(unclear.errors.contains("Shop (app_") && unclear.errors.contains("--app"))
        for (kind, advises) in [("read", true), ("app", false)] {
            let output = try installation.run(["keys", "create", "--kind", kind])
            #expect(output.status == 2 && output.errors.contains("--app"), "\(output.errors)")
            #expect(output.errors.contains("--all-apps") == advises, "\(output.errors)")
        }
        #expect(try installation.run(["keys", "create", "--kind", "app", "--app", "Shop"]).status == 0)
        #expect(
            try installation.run(["keys", "create", "--kind", "app", "--app", installation.appID]).status == 0
        )
        #expect(try installation.run(["keys", "create", "--kind", "admin"]).status == 0)
        #expect(try installation.run(["keys", "create", "--kind", "app", "--app", "Shep"]).status == 1)
    }

    @Test("a key is shown only when it is created, and a second revocation says when the first one was")
    func keyLife() throws {
        let installation = try Installation()
        let made = try json(
            installation.run([
                "keys", "create", "--kind", "app", "--label", "phone", "--expires", "30d", "--json",
            ])
        )
        let key = try #require(made["key"] as? [String: Any])
        let (id, text) = (try #require(key["id"] as? String), try #require(key["text"] as? String))
        #expect(key["label"] as? String == "phone" && key["expires_at"] is String)

        let list = try installation.run(["keys", "list"])
        #expect(list.text.contains(id) && !list.text.contains(text) && list.text.contains("phone"))
        let revoked = try installation.run(["keys", "revoke", id])
        #expect(revoked.status == 0 && revoked.text == "Revoked \(id).\n")
        #expect(try installation.run(["keys", "revoke", id]).text.contains("was already revoked at"))
    }

    @Test("a running server refuses a revoked key a second later, and accepts the new key")
    func revocation() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        var old = installation.keys.app
        // Several rounds are needed, because the server may have polled just before the first one.
        for round in 1...3 {
            let made = try json(installation.run(["keys", "create", "--kind", "app", "--json"]))
            let new = try #require((made["key"] as? [String: Any])?["text"] as? String)
            let known = try Polling.until { try status(new, server) == 200 }
            #expect(known, "round \(round)")
            #expect(try status(old, server) == 200, "both keys are valid at the same time")
            let valid = try keys(installation).filter { $0["state"] as? String == "valid" }
            #expect(valid.count == 2 && valid.allSatisfy { $0["created_at"] is String })
            let id = try #require(valid.first?["id"] as? String)
            #expect(try installation.run(["keys", "revoke", id]).status == 0)
            // On any machine, a check a second after the end of the command gets 401.
            let second = ContinuousClock.now + .seconds(1)
            _ = try Polling.until {
                _ = try status(old, server)
                return ContinuousClock.now >= second
            }
            #expect(try status(old, server) == 401)
            #expect(try status(new, server) == 200)
            old = new
        }
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let after = try keys(installation)
        #expect(after.map { $0["state"] as? String } == ["revoked", "revoked", "revoked", "valid"])
        #expect(after.allSatisfy { $0["last_used_at"] is String })
        #expect(after.first?["revoked_at"] is String)
    }

    /// Returns the status of a check with this key on a new connection.
    private func status(_ key: String, _ server: AfterlinkProcess) throws -> Int {
        try server.connect().check(fingerprint(1), key: key).status
    }

    /// Returns the listed app keys, the oldest first.
    private func keys(_ installation: Installation) throws -> [[String: Any]] {
        let list = try json(installation.run(["keys", "list", "--json"]))
        let keys = try #require(list["keys"] as? [[String: Any]])
        return keys.filter { $0["kind"] as? String == "app" }
    }

    private static let refusals: [(words: String, status: Int32)] = [
        ("keys create", 2), ("keys create --kind root", 2), ("keys create --kind admin --app app", 2),
        ("keys create --kind app --expires 2001-01-01", 2), ("keys create --kind app --expires soon", 2),
        ("keys revoke app_secret", 2), ("keys revoke key_00000000000000000000000000", 1), ("apps set", 2),
        ("apps set --open-clicks maybe", 2), ("apps set --attribution-window 59", 2),
        ("apps set --destination https://", 2), ("apps set --allowed-origin shop", 2),
        ("apps set --localization Base", 2), ("apps set --localization t%C3%BC", 2),
        ("apps set --localization english", 2), ("apps set --development-language xx", 2),
        ("apps set --development-language 1", 2), ("apps create", 2), ("apps create --name=", 2),
        ("apps create \u{A0}", 2), ("apps create \u{200B}", 2), ("apps create \u{2003}Shop", 2),
        ("apps set --name \u{A0}\u{2003}", 2), ("keys create --kind app --label \u{A0}", 2),
    ]

    @Test("wrong settings of apps and keys are refused, and nothing is changed", arguments: refusals)
    func refuses(words: String, status: Int32) throws {
        let installation = try Installation()
        let before =
            try installation.run(["apps", "list", "--json"]).text + installation.run(["keys", "list"]).text
        let output = try installation.run(words.split(separator: " ").map(String.init))
        #expect(output.status == status, "\(output.errors)")
        #expect(output.errors.hasPrefix("afterlink: "))
        #expect(
            try installation.run(["apps", "list", "--json"]).text + installation.run(["keys", "list"]).text
                == before
        )
    }
}
