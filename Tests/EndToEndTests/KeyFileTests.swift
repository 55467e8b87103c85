import Foundation
import Support
import Testing

@testable import afterlink

@Suite("The modes of files that are mounted on several servers")
struct SharedFileModeTests {
    @Test(
        "a group may read a secret if another user owns it or the process is in the group; others may not",
        arguments: [
            (0o600, 0 as uid_t, 0 as gid_t, true), (0o400, 1, 1, true), (0o440, 1, 0, true),
            (0o640, 0, 0, true), (0o640, 0, 1, geteuid() == 0), (0o660, 0, 0, false), (0o444, 1, 1, false),
            (0o604, 0, 0, false),
        ] as [(mode_t, uid_t, gid_t, Bool)]
    )
    func modes(mode: mode_t, user: uid_t, group: gid_t, isFit: Bool) {
        var status = stat()
        // The arguments are differences from this process's user and group.
        (status.st_mode, status.st_uid, status.st_gid) = (S_IFREG | mode, geteuid() + user, getegid() + group)
        #expect(FileModes.isFitForSecrets(status) == isFit)
    }
}

@Suite("Key files", .blocking)
struct KeyFileTests {
    private func keyFile(_ installation: Installation) -> String { installation.database.path + ".key" }

    private func addressFile(_ installation: Installation) -> String {
        installation.database.path + ".address-key"
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Writes a text to a file, and keeps the file's mode.
    private func put(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func date(_ days: Double) -> String {
        String(ISO8601DateFormatter().string(from: .now.addingTimeInterval(days * 86_400)).prefix(10))
    }

    @Test("a rotation of the server key renews the address keys from the next day on")
    func addressesFollow() throws {
        let installation = try Installation()
        let server = try AfterlinkProcess(installation)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        let before = try text(addressFile(installation)).split(separator: "\n")
        let next = [date(1), date(2)]
        #expect(try installation.run(["server-key", "rotate"]).status == 0)
        let after = try text(addressFile(installation)).split(separator: "\n")
        #expect(after.count == 2 && after.first == before.first)
        let words = try #require(after.last?.split(separator: " "))
        #expect(next.contains(String(words[0])))
        #expect(words[1].count == 64 && !before[0].hasSuffix(words[1]))
    }

    @Test(
        "on a full disk the advice is to make room; other errors of the system get the advice of the file",
        arguments: [
            (ENOSPC, "Make room"), (EDQUOT, "Make room"), (EACCES, "Give"), (EROFS, "Give"), (EIO, "Give"),
        ]
    )
    func advice(number: Int32, start: String) throws {
        let error = SystemError("cannot write", "a.key.draft", number: number)
        let advice = "Give it to the user."
        let failure = CommandFailure.because("The server key cannot be written", error).advising(advice)
        #expect(failure.advice.hasPrefix(start), "\(failure.text)")
        let thrown = try #require(throws: CommandFailure.self) {
            try attempt("The file could not be created", advice: advice) { () throws -> Void in throw error }
        }
        #expect(thrown.advice == failure.advice)
    }

    @Test("a fifth server key is refused")
    func tooMany() throws {
        let installation = try Installation()
        let others = "abc".map { String(repeating: $0, count: 64) + "\n" }.joined()
        try put(others + text(keyFile(installation)), keyFile(installation))
        let before = try text(keyFile(installation))
        let output = try installation.run(["server-key", "rotate"])
        #expect(output.status == 1 && output.errors.contains("There are 4 server keys"))
        #expect(try text(keyFile(installation)) == before)
    }

    @Test("a server whose key is removed from the file logs the loss, and still stores under the key")
    func takenAway() throws {
        let (installation, _, connection) = try Installation.serving(["--replay-grace", "0"])
        #expect(try connection.click(fingerprint(1)).status == 201)
        let own = try text(keyFile(installation))
        try put(String(repeating: "ab", count: 32) + "\n", keyFile(installation))
        #expect(
            Polling.until { installation.log.contains("lacks the server key that clicks are stored under") }
        )
        #expect(try connection.click(fingerprint(2)).status == 201)
        for number in 1...2 { #expect(try connection.check(fingerprint(number)).isMatch) }
        try put(own, keyFile(installation))
        #expect(try installation.run(["verify"]).text.contains("ok       server_key"))
    }

    @Test("address keys that start in the future, because a clock was wrong, are created again")
    func future() throws {
        let installation = try Installation()
        let path = addressFile(installation)
        let bytes = String(repeating: "ab", count: 32)
        let server = try AfterlinkProcess(installation)
        server.terminate()
        #expect(server.waitUntilExit() == 0)
        try put("\(date(400)) \(bytes)\n", path)
        let days = [date(0), date(1)]
        let next = try AfterlinkProcess(installation)
        defer { next.kill() }
        #expect(try Polling.until { try days.contains(String(text(path).prefix(10))) })
        #expect(try !text(path).contains(bytes))
    }
}
