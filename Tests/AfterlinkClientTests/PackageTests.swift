import Foundation
import Support
import Testing

@Suite("An app's package that depends on this one", .blocking)
struct PackageTests {
    /// Builds a package that depends on a copy of this repository by its address, as an app does.
    ///
    /// Packages with unsafe flags, or with a library that the machine lacks, cannot be used like this.
    @Test("builds the client, and nothing of the server", .enabled(if: isLong, "AFTERLINK_LONG builds it"))
    func resolves() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
            .standardizedFileURL
        let folder = try TemporaryFolder()
        let (copy, app) = (folder.file("afterlink"), folder.file("app"))
        let git = ["-c", "user.name=Tests", "-c", "user.email=tests@example.com", "-c", "safe.directory=*"]
        _ = try ExternalProgram.run("git", git + ["clone", "--quiet", "--no-hardlinks", root.path, copy])
        // Copy the files as they are here, committed or not.
        let changed = ["Package.swift", "Sources/AfterlinkCore", "Sources/AfterlinkClient", "Tests"]
        for name in changed {
            _ = try ExternalProgram.run("rm", ["-rf", copy + "/" + name])
            _ = try ExternalProgram.run("cp", ["-r", root.appending(path: name).path, copy + "/" + name])
        }
        _ = try ExternalProgram.run("git", git + ["-C", copy, "add", "--all"])
        _ = try ExternalProgram.run(
            "git",
            git + ["-C", copy, "commit", "--quiet", "--allow-empty", "-m", "Copy"]
        )
        _ = try ExternalProgram.run("git", git + ["-C", copy, "tag", "1.0.0"])

        try FileManager.default.createDirectory(
            atPath: app + "/Sources/App",
            withIntermediateDirectories: true
        )
        try """
        // swift-tools-version: 6.2
        import PackageDescription
        let package = Package(
            name: "App",
            dependencies: [.package(url: "file://\(copy)", from: "1.0.0")],
            targets: [
                .executableTarget(
                    name: "App", dependencies: [.product(name: "AfterlinkClient", package: "afterlink")])
            ]
        )
        """.write(toFile: app + "/Package.swift", atomically: false, encoding: .utf8)
        try """
        import AfterlinkClient
        let afterlink = Afterlink.test(matching: nil)
        print(await afterlink.firstLaunch())
        """.write(toFile: app + "/Sources/App/main.swift", atomically: false, encoding: .utf8)
        let output = try ExternalProgram.run("swift", ["run", "--package-path", app])
        #expect(String(decoding: output, as: UTF8.self).contains("none"))
        let built = try FileManager.default.contentsOfDirectory(atPath: app + "/.build/debug")
        #expect(!built.contains { $0.hasPrefix("Server") || $0.hasPrefix("Attribution") }, "\(built)")
    }
}
