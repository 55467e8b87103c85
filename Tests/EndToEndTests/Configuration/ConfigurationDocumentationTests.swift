import Attribution
import Foundation
import HTTPServer
import Storage
import Testing
import afterlink

@Suite("Documentation of the settings")
struct ConfigurationDocumentationTests {
    @Test("names of settings are unique, and every setting has a rule, a default and a help text")
    func complete() {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        for setting in Setting.all {
            #expect(!setting.help.isEmpty && setting.help.hasSuffix("."), "\(setting.name)")
            #expect(!setting.allowed.isEmpty && !setting.allowed.hasSuffix("."), "\(setting.name)")
            #expect(!setting.defaultText.isEmpty, "\(setting.name)")
        }
    }

    @Test("a setting's flag, environment variable and file key follow from the setting's name")
    func names() throws {
        let setting = try #require(Setting.named("metrics-listen"))
        #expect(setting.flag == "--metrics-listen")
        #expect(setting.environmentVariable == "AFTERLINK_METRICS_LISTEN")
        #expect(setting.fileKey == "metrics_listen")
        #expect(Setting.named("initial-app-key")?.flag == nil)
    }

    @Test("the article's table of settings is the table that `afterlink help settings` prints")
    func table() throws {
        let article = try Repository.text("Sources/afterlink/Afterlink.docc/FaultsAndSettings.md")
        #expect(
            article.contains(SettingsDocumentation.markdown),
            "FaultsAndSettings.md: replace the table with what `afterlink help settings --markdown` prints"
        )
    }

    @Test("the articles state the defaults in force")
    func defaults() throws {
        let standard = Configuration()
        let window = ElapsedTime.text(milliseconds: standard.attributionWindow.seconds * 1000)
        let retention = ElapsedTime.text(milliseconds: standard.retention * 1000)
        let matches = ElapsedTime.text(milliseconds: standard.usedRetentionOfMatches * 1000)
        let idle = standard.timeouts.idle.components.seconds
        let sentences = [
            ("API", "the grace (\(standard.replayGrace) s by default)"),
            ("FaultsAndSettings", "(`--retention`) after the end of its window of \(window)"),
            ("FaultsAndSettings", "`--timeout-idle`, \(idle) s by default"),
            ("FaultsAndSettings", "the queue takes (\(standard.queueLimit))"),
            ("InstallAndProxies", "keepalive_requests \(standard.limits.requestsPerConnection);"),
            ("ManyServers", "keepalive_requests \(standard.limits.requestsPerConnection);"),
            ("InstallAndProxies", "`--shutdown-grace` (\(standard.shutdownGrace) s,"),
            ("KeysAndBackups", "the end of its window (\(retention) by default)"),
            ("KeysAndBackups", "`--retention-matches` after the end of its window, by default \(matches)"),
            ("FaultsAndSettings", "a click that led to a launch is deleted \(matches) after that end"),
        ]
        for (article, sentence) in sentences {
            let text = try Repository.text("Sources/afterlink/Afterlink.docc/\(article).md")
            #expect(text.contains(sentence), "\(article).md")
        }
    }

    @Test("the guide names the default durability, and what a power cut may lose with each durability")
    func durability() throws {
        let standard = Configuration().durability.rawValue
        let guide = try Repository.text("Sources/afterlink/Afterlink.docc/FaultsAndSettings.md")
        #expect(standard == "full")
        #expect(guide.contains("`--durability \(standard)`, the default"))
        let rows = guide.split(separator: "\n").map {
            $0.split(separator: "|").map { $0.trimmingPrefix(" ") }
        }
        let heading = rows.firstIndex {
            $0.count == 3 && $0[1].hasPrefix("`full`") && $0[2].hasPrefix("`relaxed`")
        }
        let table = rows[try #require(heading)...].prefix { $0.count == 3 }
        let powerCut = try #require(table.first { $0[0].hasPrefix("a power cut") })
        #expect(powerCut[1].hasPrefix("nothing") && powerCut[2].contains("since the last sync"))
    }

    @Test(
        "the files and folders that articles name exist",
        arguments: [("README.md", 15), (articles + "Contributing.md", 25), (articles + "ClaimPath.md", 5)]
    )
    func paths(article: String, minimumCount: Int) throws {
        let names = try Set(
            (Repository.files(under: "Sources") + Repository.files(under: "Tests")).map(Self.name)
        )
        let words = try Repository.text(article).split(separator: "`").filter { word in
            word.wholeMatch(of: /[A-Za-z0-9.][A-Za-z0-9_.\/+-]*/) != nil
        }
        var count = 0
        for word in words.map(String.init) {
            // A path starts in one of these folders; other words with a slash are no paths.
            let places = ["", "Sources/", "Sources/afterlink/"].filter { place in
                Repository.exists(place + word.prefix { $0 != "/" })
            }
            if word.contains("/"), !places.isEmpty {
                #expect(places.contains { Repository.exists($0 + word) }, "\(article): \(word)")
                count += 1
            } else if word.hasSuffix(".swift") {
                #expect(names.contains(word) || Repository.exists(word), "\(article): \(word)")
                count += 1
            }
        }
        #expect(count >= minimumCount)
    }

    private static let articles = "Sources/afterlink/Afterlink.docc/"

    private static func name(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? ""
    }

    @Test("the list in the terminal names every setting as a variable and as a key in files")
    func terminal() {
        for setting in Setting.all {
            #expect(SettingsDocumentation.text.contains(setting.environmentVariable))
            #expect(SettingsDocumentation.text.contains(setting.fileKey))
        }
    }
}

/// The files of this repository.
enum Repository {
    private static let top = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: top.appending(path: path), encoding: .utf8)
    }

    /// Whether there is a file or a folder at a path.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: top.appending(path: path).path)
    }

    /// Returns the paths of all files below a folder.
    static func files(under folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: top.appending(path: folder).path)
            .map { "\(folder)/\($0)" }
    }
}
