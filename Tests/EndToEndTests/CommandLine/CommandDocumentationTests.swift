import Testing
import afterlink

@Suite("Documentation of the commands")
struct CommandDocumentationTests {
    private static let articles = ["README.md", "Sources/afterlink/Afterlink.docc/KeysAndBackups.md"]
    private static let otherArticles = [
        "Sources/afterlink/Afterlink.docc/InstallAndProxies.md",
        "Sources/afterlink/Afterlink.docc/FaultsAndSettings.md",
        "Sources/afterlink/Afterlink.docc/ManyServers.md",
    ]

    /// Returns the words after `afterlink` in code, at the start of a line or of inline code.
    private func calls(in path: String) throws -> [[String]] {
        var calls: [[String]] = []
        var isCode = false
        for line in try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isCode.toggle()
                continue
            }
            let pieces = isCode ? [line] : line.split(separator: "`", omittingEmptySubsequences: false)
            for piece in pieces where piece.hasPrefix("afterlink ") {
                calls.append(piece.split(separator: " ").dropFirst().map(String.init))
            }
        }
        return calls
    }

    @Test("the articles call existing commands with existing options", arguments: articles + otherArticles)
    func callsExist(path: String) throws {
        let calls = try calls(in: path)
        #expect(calls.count > 5)
        for words in calls where words.first != "help" {
            let command = Program.standard.commands.first { command in
                words.starts(with: command.name.split(separator: " ").map(String.init))
            }
            guard let command else {
                Issue.record("\(path) calls `afterlink \(words.joined(separator: " "))`")
                continue
            }
            for word in words where word.hasPrefix("--") {
                #expect(command.allOptions.contains { "--\($0.name)" == word }, "\(path): \(words)")
            }
        }
    }

    @Test("the articles name the commands that maintain a database", arguments: articles)
    func named(path: String) throws {
        let names = Set(try calls(in: path).compactMap(\.first))
        #expect(names.isSuperset(of: ["backup", "restore", "verify", "doctor"]))
    }
}
