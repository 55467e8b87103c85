import Attribution
import Server
import Testing
import afterlink

/// Trials from command lines, without a server.
enum Trials {
    static func choice(_ words: [String]) throws -> TrialChoice {
        let command = try #require(Program.standard.commands.first { $0.name == "simulate" })
        return try TrialChoice(Arguments(words, of: command))
    }

    static func trial(_ words: [String]) throws -> Trial {
        let choice = try choice(words)
        let profile = try #require(choice.profiles.first)
        return try choice.trial(of: profile, prefix: "myapp://x/", app: nil, number: 12_345_678)
    }

    static func trial(_ words: String) throws -> Trial {
        try trial(words.split(separator: " ").map(String.init))
    }
}

@Suite("A simulated click and launch")
struct TrialTests {
    @Test("there are a dozen browsers, each with its source and a device, and every form has a release")
    func tables() throws {
        let people = BrowserProfile.all.filter { !$0.isRobot }
        #expect(people.count >= 12)
        #expect(people.count < BrowserProfile.all.count)
        #expect(Set(BrowserProfile.all.map(\.name)).count == BrowserProfile.all.count)
        #expect(Set(TrialDevice.all.map(\.name)).count == TrialDevice.all.count)
        #expect(Set(SDKRelease.all.map(\.form)) == Set(FingerprintForm.allCases))
        for profile in BrowserProfile.all {
            #expect(profile.source.contains("/"), "\(profile.name)")
            #expect(TrialDevice.all.contains { $0.name == profile.device }, "\(profile.name)")
            #expect(RobotAgents.embedded.isRobot(profile.agent) == profile.isRobot, "\(profile.name)")
        }
    }

    @Test(
        "each browser's click, except Firefox's on Android, is found by its device with each release of the SDK"
    )
    func everyProfile() throws {
        for profile in BrowserProfile.all where !profile.isRobot && profile.name != "firefox-android" {
            let platform = try Trials.trial(["--profile", profile.name]).release.platform
            for release in SDKRelease.all where release.platform == platform {
                let trial = try Trials.trial(["--profile", profile.name, "--sdk", release.name])
                let reading = TrialAnalysis(trial)
                let differences = reading.differences.map(\.component.rawValue)
                #expect(reading.hit != nil, "\(profile.name) \(release.name): \(differences)")
                #expect(differences.isEmpty, "\(profile.name) \(release.name)")
            }
        }
    }

    @Test(
        "a device hashes the values that its release of the SDK hashes",
        arguments: [
            ("1.7.1", "iPhone|17.5.1|390x844|Europe/Istanbul|tr"),
            ("1.8.5", "iPhone|17.5.1|1170|Europe/Istanbul|tr"),
            ("1.8.7", "iPhone|1170|Europe/Istanbul|tr"), ("1.8.9", "iPhone|Europe/Istanbul|tr"),
        ]
    )
    func hashed(release: String, text: String) throws {
        let trial = try Trials.trial("--profile safari-ios-17 --sdk \(release)")
        #expect(trial.launch.text == text)
        #expect(trial.launch.fingerprint == Fingerprint(of: text))
    }

    @Test("the app's values can differ from the browser's")
    func overrides() throws {
        let trial = try Trials.trial(
            "--profile webview-android --model X --os-version 12 --device-timezone Asia/Dubai --device-language id-ID"
        )
        #expect(trial.launch.text == "X|1080|Asia/Dubai|in")
        let person = try Trials.trial("--timezone Europe/Berlin --language de-DE")
        #expect(person.launch.text == "iPhone|Europe/Berlin|de")
        #expect(TrialAnalysis(person).hit != nil)
        let other = try Trials.trial("--device galaxy-s23")
        #expect(other.release.name == "android")
        #expect(other.launch.text == "SM-S911B|1080|Europe/Istanbul|tr")
    }

    @Test(
        "the components that differ are named",
        arguments: [
            ("--device-timezone Asia/Dubai", ["timezone"]), ("--device-language de", ["language"]),
            ("--device ipad-air", ["model"]), ("--sdk 1.7.1 --os-version 18.1", ["osVersion"]),
            ("--sdk 1.8.7 --device iphone-se", ["width"]), ("--device galaxy-s23", ["model", "width"]),
            ("--device-timezone Asia/Dubai --device-language ar", ["timezone", "language"]),
        ]
    )
    func differences(words: String, names: [String]) throws {
        let reading = TrialAnalysis(try Trials.trial(words))
        #expect(reading.hit == nil)
        #expect(reading.differences.map(\.component.rawValue) == names)
    }

    @Test("an app on iOS runs in one of its own languages, and still finds the click")
    func localization() throws {
        let english = AppLocalization(
            localizations: ["en", "de"],
            developmentLanguage: "de",
            languages: DeviceData.embedded.languages
        )
        for (words, text) in [
            ("--language tr-TR", "iPhone|Europe/Istanbul|de"), ("", "iPhone|Europe/Istanbul|en"),
            ("--device-language tr", "iPhone|Europe/Istanbul|tr"),
            ("--profile samsung-internet", "SM-S911B|1080|Europe/Istanbul|tr"),
        ] {
            let choice = try Trials.choice(words.split(separator: " ").map(String.init))
            let trial = try choice.trial(
                of: try #require(choice.profiles.first),
                prefix: "myapp://x/",
                app: nil,
                localization: english,
                number: 1
            )
            #expect(trial.launch.text == text)
            #expect(TrialAnalysis(trial).hit != nil, "\(words)")
        }
    }

    @Test("different spellings of one value are no difference")
    func spellings() throws {
        for words in [
            "--timezone Asia/Calcutta --device-timezone Asia/Kolkata",
            "--profile chrome-android --device-language he --language iw", "--sdk 1.7.1 --os-version 26.4",
        ] { #expect(TrialAnalysis(try Trials.trial(words)).hit != nil, "\(words)") }
    }

    @Test("a click is found by the values that its device sends, whatever language the app runs in")
    func anyLanguageByValues() throws {
        // Without the app's languages, the person's first language finds the click.
        let german = try Trials.trial("--resolve --device-language de")
        #expect(german.launch.text == "iPhone|Europe/Istanbul|tr")
        #expect(TrialAnalysis(german).hit != nil)
    }

    @Test("a trial sends the requests that the browser and the SDK send")
    func requests() throws {
        let page = try Trials.trial("--profile chrome-android-hints --as page")
        let click = page.click(host: "h", key: "app_key", at: nil).shown
        for text in [
            "> POST /v1/deferred-deeplink/click", "> User-Agent: Mozilla/5.0 (Linux; Android 10; K)",
            #"> Sec-CH-UA-Model: "SM-A546E""#, "> Accept-Language: tr-TR,tr;q=0.9,en-US;q=0.8,en;q=0.7",
            #""pixelRatio": 2.8125"#, #""deeplink_url": "myapp://x/sim_7clzi""#,
        ] { #expect(click.contains(text), "\(text)") }
        #expect(!click.contains("Authorization") && !click.contains("user_agent"))

        let server = try Trials.trial("--as server").click(host: "h", key: "server_key", at: nil).shown
        #expect(server.contains(#""user_agent": "Mozilla/5.0 (iPhone;"#))
        #expect(server.contains("> Authorization: Bearer server_ke…"))
        #expect(!server.contains("> User-Agent: Mozilla"))

        let moment = Timestamp(milliseconds: 1_780_000_000_000)
        let trial = try Trials.trial("--profile safari-ios-17 --sdk 1.8.9")
        let launch = trial.launch(host: "h", key: "test_key", token: "abc", at: moment).shown
        for text in [
            "> GET /v1/deferred-deeplink?fingerprint=\(trial.launch.fingerprint.hex)&token=abc",
            "> X-SDK-Version: paylisher-ios/1.8.9", "> X-Device-Platform: ios", "Darwin/23.5.0",
            "> X-Test-Time: 2026-05-28T20:26:40.000Z",
        ] { #expect(launch.contains(text), "\(text)") }
        let old = try Trials.trial("--sdk 1.7.1").launch(host: "h", key: "k", token: nil, at: nil).shown
        #expect(old.contains("paylisher-ios/1.6.0"))
        #expect(!old.contains("X-Device-Platform") && !old.contains("token") && !old.contains("X-Test-Time"))
    }

    @Test(
        "unknown names and contradictory options are refused with advice",
        arguments: [
            ("--profile safari-ios-27", "Did you mean safari-ios-26"), ("--device x", "--list"),
            ("--sdk android", "Leave --sdk out"), ("--all --profile googlebot", "Leave one of them out"),
            ("--url a://b --link c", "Leave one of them out"),
            ("--resolve --sdk 1.8.9", "Leave one of them out"), ("--as admin", "Correct it"),
            ("--delay 5", "Correct it"), ("--model a|b", "Correct it"), ("--os-version x", "Correct it"),
            ("--timezone Mars/X", "Correct it"), ("--device-timezone Mars/X", "Correct it"),
            ("--language !!", "Correct it"), ("--device-language 1", "Correct it"),
        ]
    )
    func refusals(words: String, advice: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try Trials.trial(words) }
        #expect(failure?.exitCode == .usage)
        #expect(failure?.advice.contains(advice) == true)
    }

    @Test(
        "the URL of a server is accepted, and no other text",
        arguments: [
            ("http://127.0.0.1:8080", "127.0.0.1:8080"), ("http://localhost/", "localhost"),
            ("https://links.example", "links.example"), ("https://links.example:8443", "links.example:8443"),
            ("http://[::1]:8080", "[::1]:8080"), ("http://[::1]", "[::1]"), ("127.0.0.1:8080", nil),
            ("http://a/b", nil), ("ftp://a", nil), ("http://", nil), ("http://a:0", nil), ("http://a:x", nil),
            ("http://a b", nil), ("http://a\r\nX: y", nil),
        ]
    )
    func servers(url: String, host: String?) { #expect(Exchange(url)?.hostField == host) }
}
