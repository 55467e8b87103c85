import Foundation
import Support

/// Runs the binary as a user without privileges, in a folder of that user; only root can switch to one.
final class UnprivilegedUser {
    static let identifier = 65_534
    private static let setpriv = "/usr/bin/setpriv"
    static let prlimit = "/usr/bin/prlimit"

    /// Whether tests can switch to another user on this machine.
    static let isPossible =
        geteuid() == 0 && [setpriv, prlimit].allSatisfy(FileManager.default.isExecutableFile)

    private let identifier: Int

    private let folder: TemporaryFolder
    private let binary: URL
    /// A folder that the user may write to.
    let dataDirectory: String
    var errorLog: URL { folder.url.appending(path: "log") }

    /// Creates the user's folder; tests that count a user's threads name a user without other processes.
    init(_ identifier: Int = UnprivilegedUser.identifier) throws {
        self.identifier = identifier
        folder = try TemporaryFolder()
        // Other users may not be able to read the build's folder. Another process copies the program: if this process
        // had it open for writing, a child of another test could inherit the descriptor, and no start would be possible
        // (ETXTBSY).
        binary = folder.url.appending(path: "afterlink")
        _ = try ExternalProgram.run("cp", [Installation.binary.path, binary.path])
        dataDirectory = folder.file("data")
        try FileManager.default.createDirectory(atPath: dataDirectory, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.ownerAccountID: identifier, .groupOwnerAccountID: identifier],
            ofItemAtPath: dataDirectory
        )
        for path in [folder.path, binary.path] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
    }

    /// Starts `afterlink serve` in the user's folder, under a limit in prlimit(1)'s form.
    func serve(_ listen: String, _ settings: [String] = [], limit: String? = nil) throws -> ChildProcess {
        let command =
            [limit ?? "--core=0", Self.setpriv, "--reuid", "\(identifier)", "--regid", "\(identifier)"]
            + ["--clear-groups", "--no-new-privs", "--bounding-set=-all", binary.path, "serve"]
            + ["--listen", listen, "--data-directory", dataDirectory]
        return try ChildProcess(URL(fileURLWithPath: Self.prlimit), command + settings, errorLog: errorLog)
    }
}

extension Installation {
    /// Runs a command of the binary without root's right to ignore the permissions of files.
    static func runWithinModes(_ words: [String], environment: [String: String] = [:]) throws
        -> ChildProcess.Output
    {
        let limits = geteuid() == 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
        return try run(
            limits + [binary.path] + words,
            of: URL(fileURLWithPath: "/usr/bin/env"),
            environment: environment
        )
    }
}
