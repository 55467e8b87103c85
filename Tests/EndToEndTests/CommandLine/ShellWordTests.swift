import Foundation
import Support
import Testing
import afterlink

@Suite("A word for a shell", .blocking)
struct ShellWordTests {
    @Test(
        "a word has quotes only if it is empty, or a character may have a meaning in a shell",
        arguments: [
            ("/var/lib/after-link_1.db", "/var/lib/after-link_1.db"), ("", "''"), ("a b", "'a b'"),
            ("it's", #"'it'\''s'"#), ("$HOME", "'$HOME'"), ("~", "'~'"), ("a;b", "'a;b'"), ("é", "'é'"),
            ("a'\u{301}; b", "'a'\\''\u{301}; b'"), ("\u{600}'", "'\u{600}'\\'''"),
        ]
    )
    func quoted(text: String, word: String) { #expect(ShellWord.quoted(text) == word) }

    @Test("a path that begins with a hyphen is written so that no command reads it as an option")
    func operand() {
        #expect(ShellWord.quoted(operand: "-f x") == "'./-f x'")
        #expect(ShellWord.quoted(operand: "f") == "f")
    }

    @Test("the command that a backup prints restores the backup, whatever the paths contain")
    func restoreCommand() throws {
        let folder = try TemporaryFolder()
        let place = folder.file("it's $HOME; \"here\"")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let settings = ["--database", place + "/a b.db", "--server-key-file", place + "/the key"]
        #expect(try Installation.run(["init"] + settings).status == 0)
        let backup = try Installation.run(["backup", folder.file("back up.db")] + settings)
        #expect(backup.status == 0, "\(backup.errors)")
        for name in ["/a b.db", "/the key"] { try FileManager.default.removeItem(atPath: place + name) }

        let command = try #require(backup.text.firstMatch(of: /To restore it: (.+)\n/)?.1)
        let binaries = Installation.binary.deletingLastPathComponent().path
        let restore = try Installation.run(
            ["-c", String(command)],
            of: URL(fileURLWithPath: "/bin/sh"),
            environment: ["PATH": binaries]
        )
        #expect(restore.status == 0, "\(restore.errors)")
        let verified = try Installation.run(["verify"] + settings)
        #expect(verified.text.contains("ok       server_key"), "\(verified.text)")
    }
}
