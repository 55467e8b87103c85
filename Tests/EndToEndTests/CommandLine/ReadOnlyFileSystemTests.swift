import Foundation
import Support
import Testing

/// A program by which tests mount a file system that no other process sees.
private enum PrivateMount {
    static let unshare = "/usr/bin/unshare"

    static let isPossible: Bool = {
        guard FileManager.default.isExecutableFile(atPath: unshare), let folder = try? TemporaryFolder()
        else { return false }
        let words = ["-rm", "mount", "-t", "tmpfs", "none", folder.path]
        return (try? Installation.run(words, of: URL(fileURLWithPath: unshare)).status) == 0
    }()
}

/// Commands on a database in a file system that is mounted read-only.
@Suite("A file system that is mounted read-only", .blocking, .enabled(if: PrivateMount.isPossible))
struct ReadOnlyFileSystemTests {
    /// Runs a command while `folder` is read-only and has a copy of the installation's database.
    private func run(_ words: [String], in folder: TemporaryFolder, _ installation: Installation) throws
        -> ChildProcess.Output
    {
        let script = """
            mount -t tmpfs -o mode=700 none "$1" && cp -p "$2"* "$1" && mount -o remount,ro "$1" || exit 99
            shift 2; exec "$@"
            """
        return try Installation.run(
            ["-rm", "/bin/sh", "-c", script, "sh", folder.path, installation.database.path]
                + [Installation.binary.path] + words,
            of: URL(fileURLWithPath: PrivateMount.unshare)
        )
    }

    @Test(
        "commands that change or read a database name the read-only file system as the cause",
        arguments: ["serve --listen 127.0.0.1:0", "stats", "apps create Shop", "keys list", "init"]
    )
    func database(command: String) throws {
        let (folder, installation) = (try TemporaryFolder(), try Installation())
        let path = folder.file("afterlink.db")
        let words = command.split(separator: " ").map(String.init) + ["--database", path]
        let output = try run(words, in: folder, installation)
        #expect(output.status == 1)
        #expect(output.errors.contains("\(path) lies on a file system that is mounted read-only"))
        #expect(output.errors.contains("on a file system that can be written to"))
        #expect(!output.errors.contains("the disk") && !output.errors.contains("SQLite"))
    }

    @Test(
        "the read-only file system is named as the cause if a database or its directory cannot be created",
        arguments: ["--database new.db", "--data-directory new"]
    )
    func new(option: String) throws {
        let (folder, installation) = (try TemporaryFolder(), try Installation())
        let words = option.split(separator: " ").map(String.init)
        let place = [words[0], folder.file(words[1])]
        let output = try run(["serve", "--listen", "127.0.0.1:0"] + place, in: folder, installation)
        #expect(output.status == 1)
        #expect(output.errors.contains("Read-only file system"))
        #expect(output.errors.contains("on a file system that can be written to"))
    }

    @Test("`verify` and `doctor` can read a database on a read-only file system")
    func looking() throws {
        let (folder, installation) = (try TemporaryFolder(), try Installation())
        for command in ["verify", "doctor"] {
            let output = try run(
                [command, "--database", folder.file("afterlink.db")],
                in: folder,
                installation
            )
            #expect(output.status == 0, "\(output.text)\(output.errors)")
        }
    }
}
