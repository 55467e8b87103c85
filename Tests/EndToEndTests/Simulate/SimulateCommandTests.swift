import Foundation
import Server
import Support
import Testing
import afterlink

@Suite("afterlink simulate", .blocking)
struct SimulateCommandTests {
    private func run(_ installation: Installation, _ server: AfterlinkProcess, _ words: String) throws
        -> ChildProcess.Output
    {
        try installation.run(
            ["simulate", "--server", "http://127.0.0.1:\(server.port)"]
                + words.split(separator: " ").map(String.init)
        )
    }

    private func trials(_ output: ChildProcess.Output) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: output.standardOutput) as? [String: Any]
        return object?["trials"] as? [[String: Any]] ?? []
    }

    @Test(
        "with each SDK and newer clients, each browser's click matches its device, except Firefox's and a robot's"
    )
    func everyProfile() throws {
        for release in ["--sdk 1.7.1", "--sdk 1.8.5", "--sdk 1.8.7", "--sdk 1.8.9", "--resolve"] {
            let installation = try Installation()
            let server = try AfterlinkProcess(installation)
            let output = try run(installation, server, "--all --json \(release)")
            #expect(output.status == 0, "\(output.errors)")
            let trials = try trials(output)
            #expect(trials.count == BrowserProfile.all.count)
            for (trial, profile) in zip(trials, BrowserProfile.all) {
                let isFound = !profile.isRobot && profile.name != "firefox-android"
                #expect(trial["matched"] as? Bool == isFound, "\(profile.name) \(release): \(trial)")
                #expect(trial["as_expected"] as? Bool == true, "\(profile.name) \(release)")
            }
            let live = try server.connect().totals(installation.keys.admin)
            #expect(live["clicks"] as? Int == 0 && live["checks"] as? Int == 0)
        }
    }

    @Test("`simulate --play` sends Google Play's report, and the server doubts injected and spammed clicks")
    func playReports() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        for (client, word, isGuaranteed) in [
            ("", "none", true), ("", "injection", false), (" --resolve", "spamming", false),
            (" --resolve", "none", true),
        ] {
            let words = "--profile chrome-android --play \(word)\(client)"
            let output = try run(installation, server, words)
            #expect(output.status == 0, "\(output.errors)")
            #expect(output.text.contains("signed_token"), "\(output.text)")
            #expect(output.text.contains("\"guaranteed\": \(isGuaranteed)"), "\(output.text)")
        }
        let phone = try run(installation, server, "--play none")
        #expect(phone.status == 2 && phone.errors.contains("--profile chrome-android"))
        #expect(try run(installation, server, "--play x").status == 2)
    }

    @Test("`simulate` shows the click's values, the hashed values, and why they match")
    func shows() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let output = try run(installation, server, "--profile safari-ios-26 --sdk 1.7.1")
        #expect(output.status == 0, "\(output.errors)")
        for text in [
            "no live statistic counts it", "seen in shalanah/inapp-spy", "26.4, the patch unknown",
            "iPhone|26.4.1|402x874|Europe/Istanbul|tr", "<- the launch sends this one", "< 201 Created",
            "Matched: the launch got this click", "Form A",
        ] { #expect(output.text.contains(text), "\(text)") }
        #expect(!output.text.contains("<- differs"))
        #expect(!KeyMark.occurs(in: output.text))
    }

    @Test("with --resolve, an updated phone still finds its click, and a phone in another zone does not")
    func values() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let updated = try run(installation, server, "--resolve --os-version 26.5")
        #expect(updated.status == 0, "\(updated.errors)")
        for text in [
            "> POST /v1/deferred-deeplink/resolve", #""osVersion": "26.5""#, #""machine": "iPhone17,1""#,
            "Matched: the launch got this click",
            "From the values, the server makes iPhone|Europe/Istanbul|tr",
        ] { #expect(updated.text.contains(text), "\(text)") }
        let token = try run(installation, server, "--resolve --token --device-timezone Asia/Dubai")
        #expect(token.status == 0, "\(token.errors)\(token.text)")
        #expect(token.text.contains("method signed_token"))
        let other = try run(installation, server, "--resolve --device-timezone Asia/Dubai")
        #expect(other.status == 0, "\(other.text)")
        #expect(other.text.contains("the click says Europe/Istanbul, the launch says Asia/Dubai"))
    }

    @Test("`simulate` names the different component if nothing matched, and expects that result")
    func differs() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        let output = try run(installation, server, "--device-timezone Asia/Dubai")
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.text.contains("<- differs"))
        #expect(output.text.contains("the click says Europe/Istanbul, the launch hashes Asia/Dubai"))
        #expect(output.text.contains("The server's reason is no_click"))
    }

    @Test("a trial does not depend on earlier trials, also with a chosen link")
    func repeated() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        for words in [
            "--device-timezone Asia/Dubai", "", "", "--profile preview-robot", "--profile safari-ios-17",
            // The chosen link is the same in each trial; the journey id of each click is not.
            "--device-timezone Asia/Dubai --url myapp://a/b", "--url myapp://a/b",
        ] {
            let output = try run(installation, server, words)
            #expect(output.status == 0, "\(words): \(output.errors)\(output.text)")
            #expect(!output.text.contains("repetition"))
        }
    }

    @Test("--delay delays the launch on a server with a test clock, and is refused on other servers")
    func delay() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation, ["--unsafe-test-clock"])
        let inTime = try trials(try run(installation, server, "--delay 23h --json"))
        #expect(inTime.first?["matched"] as? Bool == true)
        let late = try trials(try run(installation, server, "--delay 25h --json"))
        #expect(late.first?["matched"] as? Bool == false)
        #expect(late.first?["as_expected"] as? Bool == true)
        server.kill()

        let other = try AfterlinkProcess(installation)
        let refused = try run(installation, other, "--delay 25h")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--unsafe-test-clock"))
        // The dashboard of the refused server may have this address.
        #expect(!refused.errors.contains("127.0.0.1:8081"))
    }

    @Test("`simulate` uses live keys from a file, and reports that the trial is live")
    func live() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        for (poster, key) in [
            ("page", installation.keys.app), ("app", installation.keys.app),
            ("server", installation.keys.server),
        ] {
            let file = installation.folder.appending(path: "\(poster).key")
            try Data("\(key)\n".utf8).write(to: file)
            let output = try run(installation, server, "--as \(poster) --key-file \(file.path)")
            #expect(output.status == 0, "\(output.text) \(output.errors)")
            #expect(output.text.contains("This is live") && output.text.contains("campaign SIMULATED."))
            #expect(output.text.contains("states the reason to test keys only") == false)
        }
        let totals = try server.connect().totals(installation.keys.admin)
        #expect(totals["clicks"] as? Int == 3)
        let link = try installation.run(["links", "create", "s", "--destination", "myapp://x"])
        #expect(link.status == 0, "\(link.errors)")
        let file = installation.folder.appending(path: "app.key").path
        let linked = try run(installation, server, "--as app --key-file \(file) --link s")
        #expect(linked.text.contains("under the link's campaign, if it has one."), "\(linked.text)")
        let wrong = installation.folder.appending(path: "app.key").path
        #expect(
            try run(installation, server, "--key-file \(wrong)").errors.contains("needs a key of kind test")
        )
        #expect(try run(installation, server, "--as app").errors.contains("--key-file"))
    }

    @Test("`simulate` refuses a server without a certificate that the machine trusts for the server's name")
    func overTLS() throws {
        let installation = try Installation()
        let files = try CertificateFiles(in: installation.folder)
        let server = try AfterlinkProcess(installation, files.arguments)
        func run(_ host: String, trusting certificate: String?) throws -> ChildProcess.Output {
            try installation.run(
                ["simulate", "--server", "https://\(host):\(server.port)"],
                environment: certificate.map { ["SSL_CERT_FILE": $0] } ?? [:]
            )
        }
        let trusted = try run("localhost", trusting: files.certificate)
        #expect(trusted.status == 0, "\(trusted.errors)")
        for refused in [
            try run("localhost", trusting: nil), try run("127.0.0.1", trusting: files.certificate),
        ] {
            #expect(refused.status == 1)
            #expect(refused.errors.contains("no certificate for its name that this machine trusts"))
        }
    }

    @Test("`simulate` gives advice without a server, without a database, and for an unknown key")
    func missing() throws {
        let installation = try Installation()
        let gone = try installation.run(["simulate", "--server", "http://127.0.0.1:1"])
        #expect(gone.status == 1)
        #expect(gone.errors.contains("No service responds at http://127.0.0.1:1"))
        #expect(gone.errors.contains("afterlink serve"))
        let server = try AfterlinkProcess(installation)
        let url = "http://localhost:\(server.port)"
        let nowhere = installation.folder.appending(path: "none.db").path
        let keyless = try Installation.run(["simulate", "--server", url, "--database", nowhere])
        #expect(keyless.status == 1)
        #expect(keyless.errors.contains("afterlink keys create --kind test > test.key"))
        let strange = installation.folder.appending(path: "strange.key")
        try Data("test_0123456789012345678901234567890123456789012\n".utf8).write(to: strange)
        let unknown = try run(installation, server, "--key-file \(strange.path)")
        #expect(unknown.status == 1)
        #expect(unknown.errors.contains("refuses the key"))
        #expect(!unknown.errors.contains("0123456789"))
    }

    @Test("`simulate` creates another key if its key was revoked, and uses a link that the app allows")
    func keptKey() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        #expect(
            try installation.run(["apps", "set", "--destination", "https://shop.example/app"]).status == 0
        )
        let first = try run(installation, server, "--json")
        #expect(first.status == 0, "\(first.errors) \(first.text)")
        #expect(first.text.contains("https://shop.example/app/simulated/sim_"))
        let list = try installation.run(["keys", "list", "--json"])
        let object = try JSONSerialization.jsonObject(with: list.standardOutput)
        let keys = (object as? [String: Any])?["keys"] as? [[String: Any]] ?? object as? [[String: Any]] ?? []
        let id = keys.first { $0["label"] as? String == "afterlink simulate" }?["id"] as? String
        // The first run's key serves the next runs until it is revoked.
        func made() throws -> Int {
            let keys = try installation.run(["keys", "list"]).text
            return keys.split(separator: "\n").count { $0.contains("afterlink simulate") }
        }
        #expect(try run(installation, server, "").status == 0)
        #expect(try made() == 1)
        #expect(try installation.run(["keys", "revoke", try #require(id)]).status == 0)
        #expect(try run(installation, server, "").status == 0)
        #expect(try made() == 2)
        let outside = try run(installation, server, "--url other://x/y")
        #expect(outside.status == 1)
        #expect(outside.text.contains("with --url"))
    }

    @Test("`simulate --list` lists browsers, devices and releases without a server")
    func list() throws {
        let text = try Installation.run(["simulate", "--list"]).text
        for name in BrowserProfile.all.map(\.name) + TrialDevice.all.map(\.name) + SDKRelease.all.map(\.name)
        { #expect(text.contains(name)) }
        let json = try Installation.run(["simulate", "--list", "--json"])
        #expect(try JSONSerialization.jsonObject(with: json.standardOutput) is [String: Any])
    }
}

/// Finds whole keys in a text.
private enum KeyMark {
    static func occurs(in text: String) -> Bool { text.contains(/(test|app|server|admin)_[A-Za-z0-9_-]{43}/) }
}
