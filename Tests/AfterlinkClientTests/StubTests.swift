import Foundation
import Support
import Testing

@Suite("The part of the client for UIKit", .blocking)
struct StubTests {
    /// Compiles the unchanged sources and the article's code against stubs of the UIKit calls that both make.
    @Test("compiles, with the app of the article")
    func compiles() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let sources = tests.appending(path: "../../Sources").standardizedFileURL
        let folder = try TemporaryFolder()
        // SwiftPM names a package after its folder.
        let root = sources.deletingLastPathComponent().lastPathComponent.lowercased()
        let package = String(root.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        let build = Installation.binary.deletingLastPathComponent().appending(path: "Modules").path
        let flags = [
            "-swift-version", "6", "-warnings-as-errors", "-strict-memory-safety", "-package-name",
            package,
            "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature",
            "InternalImportsByDefault",
            "-enable-upcoming-feature", "MemberImportVisibility",
            "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-I", folder.path, "-I", build,
            "-module-cache-path", folder.file("cache"),
        ]
        func compile(_ module: String, _ files: [String]) throws {
            let output = [
                "-emit-module", "-module-name", module, "-emit-module-path",
                folder.file(module + ".swiftmodule"),
            ]
            _ = try ExternalProgram.run("swiftc", output + ["-parse-as-library"] + flags + files)
        }
        try compile("UIKit", [tests.appending(path: "Stubs/UIKit.swift").path])
        let client = sources.appending(path: "AfterlinkClient").path
        let names = try FileManager.default.contentsOfDirectory(atPath: client)
        // The stubs cannot show on which thread UIKit calls a closure.
        let code = try String(contentsOfFile: client + "/AfterlinkClient.swift", encoding: .utf8)
        #expect(code.contains("detectPatterns(for: [.probableWebURL]) { @Sendable result in"))
        try compile("AfterlinkClient", names.filter { $0.hasSuffix(".swift") }.map { client + "/" + $0 })
        let article = try String(
            contentsOf: sources.appending(path: "afterlink/Afterlink.docc/AddToiOSApp.md"),
            encoding: .utf8
        )
        let apps = article.matches(of: /```swift\n(?<code>(?:.|\n)*?)\n```/).map { String($0.output.code) }
        #expect(apps.count >= 3)
        // The first example is a whole file. The others are parts of a file, and use names that they do not declare.
        let files = [apps[0], Self.surroundings + apps.dropFirst().joined(separator: "\n\n")]
        let paths = files.indices.map { folder.file("app\($0).swift") }
        for (path, text) in zip(paths, files) {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        }
        let settings = [
            "-typecheck", "-parse-as-library", "-swift-version", "6", "-I", folder.path, "-I", build,
        ]
        _ = try ExternalProgram.run("swiftc", settings + paths)
    }

    /// The names that the article's short examples use and do not declare.
    private static let surroundings = """
        import AfterlinkClient
        import UIKit

        struct Router: Sendable { func open(_ url: URL) {} }
        let router = Router()
        let afterlink = Afterlink(server: URL(fileURLWithPath: "/"), appKey: "")
        let transaction = ""

        """
}
