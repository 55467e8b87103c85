import Foundation
import Testing

@Suite("Imports between modules")
struct DependencyTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardizedFileURL

    /// The modules that each module may import.
    ///
    /// The imports form no cycle. The module Attribution uses no Foundation, no clock and no disk.
    private static let allowed: [String: Set<String>] = [
        "AfterlinkCore": ["Darwin", "Foundation", "FoundationEssentials", "Glibc", "Musl"],
        "AfterlinkClient": [
            "AfterlinkCore", "Darwin", "Foundation", "FoundationNetworking", "Glibc", "Musl", "UIKit",
        ],
        "Crypto": ["COpenSSL"],
        "JSON": [],
        "Threads": ["CLinux", "Darwin", "Glibc"],
        "Attribution": ["CMath", "Crypto", "JSON"],
        "QRCodes": ["Attribution"],
        "DomainFiles": ["Attribution", "JSON"],
        "Storage": ["Attribution", "Synchronization", "Threads"],
        "SQLite": ["CSQLite", "Glibc", "Synchronization"],
        "PostgreSQL": ["CLibPQ", "CLinux", "Glibc", "Synchronization", "Threads"],
        "SQLiteStorage": [
            "Attribution", "Crypto", "Glibc", "SQLite", "Storage", "Synchronization", "Threads",
        ],
        "PostgreSQLStorage": [
            "Attribution", "CLinux", "Crypto", "Glibc", "PostgreSQL", "Storage", "Synchronization", "Threads",
        ],
        "HTTPServer": ["CLinux", "COpenSSL", "Glibc", "Synchronization", "Threads"],
        "Server": [
            "Attribution", "Crypto", "Dispatch", "DomainFiles", "FoundationEssentials", "HTTPServer", "JSON",
            "QRCodes", "Synchronization", "Threads",
        ],
    ]

    @Test("are only the modules in the importing module's list", arguments: allowed.keys.sorted())
    func imports(module: String) throws {
        let folder = Self.sources.appending(path: module)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(!files.isEmpty)
        for file in files {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard let name = Self.importedModule(line) else { continue }
                #expect(Self.allowed[module]?.contains(name) == true, "\(file.lastPathComponent): \(line)")
            }
        }
    }

    @Test("every module is in the README's tour and in the article Architecture")
    func documented() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
        // Omit the modules of C headers, whose names begin with C, and the two parts of the build plugin,
        // whose names begin with Embed.
        let modules = names.filter { $0.wholeMatch(of: /C[A-Z]\w+|Embed\w+/) == nil }
        #expect(modules.count >= Self.allowed.count)
        let tour = try String(contentsOf: Self.sources.appending(path: "../README.md"), encoding: .utf8)
        let article = try String(
            contentsOf: Self.sources.appending(path: "afterlink/Afterlink.docc/Architecture.md"),
            encoding: .utf8
        )
        for module in modules {
            #expect(tour.contains(" \(module)/ "), "README.md: \(module)")
            #expect(article.contains("`\(module)`"), "Architecture.md: \(module)")
        }
    }

    private static func importedModule(_ line: Substring) -> String? {
        // Most lines have no import, and a search for a text is much faster than a regular expression.
        guard line.range(of: "import ") != nil else { return nil }
        let access =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+/
        guard let start = line.prefixMatch(of: access)?.range.upperBound else { return nil }
        let words = line[start...].split(separator: " ")
        // In `import struct Module.Type`, the module is the second word.
        return (words.count > 1 ? words[1] : words.first)?.split(separator: ".").first.map(String.init)
    }
}
