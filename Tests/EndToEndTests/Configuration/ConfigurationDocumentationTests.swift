import Attribution
import Foundation
import HTTPServer
import Testing
import afterlink

@Suite("Documentation of the settings")
struct ConfigurationDocumentationTests {
    @Test("names are unique, and every setting says what it may be and what it is for")
    func complete() {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        for setting in Setting.all {
            #expect(!setting.help.isEmpty && setting.help.hasSuffix("."), "\(setting.name)")
            #expect(!setting.allowed.isEmpty && !setting.allowed.hasSuffix("."), "\(setting.name)")
            #expect(!setting.defaultText.isEmpty, "\(setting.name)")
        }
    }

    @Test("flag, environment variable and file key follow from the name")
    func names() throws {
        let setting = try #require(Setting.named("metrics-listen"))
        #expect(setting.flag == "--metrics-listen")
        #expect(setting.environmentVariable == "AFTERLINK_METRICS_LISTEN")
        #expect(setting.fileKey == "metrics_listen")
        #expect(Setting.named("initial-app-key")?.flag == nil)
    }

    @Test("the article's table is the one in code")
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
        let idle = standard.timeouts.idle.components.seconds
        let sentences = [
            ("API", "the grace (\(standard.replayGrace) s by default)"),
            ("FaultsAndSettings", "with the defaults of \(window) and \(retention)"),
            ("FaultsAndSettings", "`--timeout-idle`, \(idle) s by default"),
            ("FaultsAndSettings", "the queue takes (\(standard.queueLimit))"),
            ("InstallAndProxies", "keepalive_requests \(standard.limits.requestsPerConnection);"),
            ("InstallAndProxies", "`--shutdown-grace` (\(standard.shutdownGrace) s,"),
            ("KeysAndBackups", "the end of its window (\(retention) by default)"),
        ]
        for (article, sentence) in sentences {
            let text = try Repository.text("Sources/afterlink/Afterlink.docc/\(article).md")
            #expect(text.contains(sentence), "\(article).md")
        }
    }

    @Test("the guide says which durability is the default, and names by setting what a power cut takes")
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

    @Test("the README's tour leads to files that there are")
    func tour() throws {
        let paths = try Repository.text("README.md").split(separator: "`").filter {
            $0.hasSuffix(".swift") && $0.contains("/")
        }
        #expect(paths.count > 8)
        for path in paths {
            let isFull = path.hasPrefix("Sources/") || path.hasPrefix("Tests/")
            let full = isFull ? String(path) : "Sources/\(path)"
            #expect(throws: Never.self, "\(path)") { try Repository.text(full) }
        }
    }

    @Test("the terminal's list names every setting in all its spellings")
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

    /// Paths of all files below a folder.
    static func files(under folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: top.appending(path: folder).path)
            .map { "\(folder)/\($0)" }
    }
}
