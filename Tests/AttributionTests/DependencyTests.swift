import Foundation
import Testing

@Suite("The domain's dependencies")
struct DependencyTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/Attribution").standardizedFileURL

    @Test("are Crypto, exp and log, and nothing else: no Foundation, no system, no clock, no disk")
    func importsCryptoAndCMathOnly() throws {
        let files = try #require(
            FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil)
        )
        .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 20)
        for file in files {
            let imports = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .filter {
                    $0.contains(
                        /^\s*(@\w+(\([^)]*\))?\s+)*((public|package|internal|fileprivate|private)\s+)?import\b/
                    )
                }
            for line in imports {
                let isAllowed = ["internal import Crypto", "internal import CMath"].contains(line)
                #expect(isAllowed, "\(file.lastPathComponent): \(line)")
            }
        }
    }
}
