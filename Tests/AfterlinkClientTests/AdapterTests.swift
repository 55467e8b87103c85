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

    @Test(
        "in Kotlin compiles without a warning, opens both links, and sends its signals with or without Play's report",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/kotlinc"),
            "there is no kotlinc: install kotlin, as .ci/long does"
        )
    )
    func kotlin() throws {
        let blocks = try Self.blocks("kotlin")
        try #require(blocks.count == 1)
        try compile()
        let adapter = folder.file("adapter.jar")
        let files = [
            try write("AfterlinkAdapter.kt", blocks[0], end: ""),
            Self.tests.appending(path: "Java/AdapterMain.kt").path,
        ]
        let flags = ["-Werror", "-cp", folder.path, "-include-runtime", "-d", adapter]
        _ = try ExternalProgram.run("kotlinc", flags + files)

        // The first report comes after `firstLaunch` has returned; on the second device, there is no Play.
        let report =
            #""play":{"installReferrer":"al=token","installVersion":"1.0","referrerClickTimestampSeconds":1,"#
            + #""installBeginTimestampSeconds":2,"referrerClickTimestampServerSeconds":3,"#
            + #""installBeginTimestampServerSeconds":4,"googlePlayInstantParam":false}"#
        for (codes, hasReport) in [(["1:0", "lost:0", "dead:0", "0:3000"], true), (["2:0"], false)] {
            let server = try HostileServer { request, _ in
                request.path == "/v1/events"
                    ? [HostileServer.response("202 Accepted", #"{"results":[{"outcome":"accepted"}]}"#)]
                    : [HostileServer.response("200 OK", NetworkTests.match)]
            }
            let state = try TemporaryFolder()
            let program = Self.running("AdapterMainKt", in: "\(adapter):\(folder.path)")
            let arguments = program + [server.url, state.path] + codes
            let app = try ChildProcess(URL(filePath: "/usr/bin/env"), arguments)
            let lines = app.lines(through: "open ")
            #expect(lines == ["link myapp://opened", "link myapp://promo/a", "open 0"], "\(codes)")
            #expect(Polling.until { server.requests.contains { $0.path == "/v1/events" } })
            let launch = try #require(server.requests.first { $0.path.hasSuffix("/resolve") })
            let body = String(decoding: launch.body, as: UTF8.self)
            let signals =
                #""signals":{"model":"SM-A546E","osVersion":"14","screen":{"width":1080,"height":2340},"#
                + #""timezone":"Asia/Kolkata","language":"hi","languages":["hi-IN","en-GB"]}"#
            #expect(body.contains(signals), "\(body)")
            #expect(hasReport ? body.contains(report) : launch.json["play"] == nil, "\(body)")
        }
    }
}
