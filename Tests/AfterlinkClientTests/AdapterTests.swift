import Foundation
import Support
import Testing

/// The code of the article "Add Afterlink to an Android app", with stubs for the classes of Android and of Play's library.
@Suite(
    "The adapters of the Android article",
    .blocking,
    .enabled(if: JavaCore.isAvailable, "there is no javac: install default-jdk-headless, as .ci/run does")
)
struct AdapterTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the article's blocks of code in a language.
    private static func blocks(_ language: String) throws -> [String] {
        let article = try String(
            contentsOf: tests.appending(path: "../../Sources/afterlink/Afterlink.docc/AddToAndroidApp.md"),
            encoding: .utf8
        )
        let fence = "```"
        return article.components(separatedBy: "\n\(fence)\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n\(fence)").first }
    }

    /// Returns the arguments of `env` that run a program of the JVM, on a phone in India.
    private static func running(_ program: String, in classes: String) -> [String] {
        let flags = ["-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Xmx64m"]
        return ["java"] + flags
            + ["-Duser.language=hi", "-Duser.timezone=Asia/Kolkata", "-cp", classes, program]
    }

    /// Writes a file for a compiler, which begins with the imports that the article leaves to the app.
    private func write(_ name: String, _ text: String, end: String) throws -> String {
        let packages = [
            "java.io.File", "java.util.*", "java.util.concurrent.*", "stubs.AndroidStubs.*",
            "stubs.AndroidStubs.InstallReferrerClient.InstallReferrerResponse",
        ]
        let imports = packages.map { "import \($0)\(end)\n" }.joined()
        try (imports + text).write(toFile: folder.file(name), atomically: false, encoding: .utf8)
        return folder.file(name)
    }

    /// Compiles files together with the core and the stubs.
    private func compile(_ files: String...) throws {
        let core = Self.tests.appending(path: "../../Sources/AfterlinkClient/Android/AfterlinkCore.java")
        let stubs = Self.tests.appending(path: "Java/AndroidStubs.java")
        let flags = ["--release", "8", "-encoding", "UTF-8", "-Xlint:all,-options", "-Werror"]
        _ = try ExternalProgram.run("javac", flags + ["-d", folder.path, core.path, stubs.path] + files)
    }

    @Test("in Java compiles without a warning, and gets Play's report although Play is slow or not ready")
    func java() throws {
        let blocks = try Self.blocks("java")
        try #require(blocks.count == 2)
        let adapter = """
            class Adapter {
                static void start(Context context, Handler handler, Executor executor) {
                    \(blocks[0])
                }
                static Map<String, Object> signals(Context context) { return Collections.emptyMap(); }
                static void open(String url) {}
                \(blocks[1])
            }
            """
        let main = try String(contentsOf: Self.tests.appending(path: "Java/PlayMain.java"), encoding: .utf8)
        try compile(write("PlayMain.java", main + adapter, end: ";"))
        func report(_ codes: String...) throws -> [Substring] {
            let program = Self.running("PlayMain", in: folder.path)
            let output = try ChildProcess.run(URL(filePath: "/usr/bin/env"), program + codes)
            let lines = output.text.split(separator: "\n")
            #expect(lines.last == "open 0", "\(codes): \(output)")
            return lines
        }
        #expect(try report("0:3000").first == "7 al=token")
        #expect(try report("1:0", "lost:100", "dead:0", "0:0").first == "7 al=token")
        // Without Play, the second code is not asked for.
        #expect(try report("2:0", "0:0").first == "null")
    }
}
