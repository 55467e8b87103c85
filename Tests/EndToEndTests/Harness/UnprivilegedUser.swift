import Foundation
import Support

/// The binary as a user without any right of its own, in a folder of that user's: only root can become one.
final class UnprivilegedUser {
    static let identifier = 65_534
    private static let setpriv = "/usr/bin/setpriv"
    static let prlimit = "/usr/bin/prlimit"

    /// Whether this machine lets a test be nobody.
    static let isPossible =
        geteuid() == 0 && [setpriv, prlimit].allSatisfy(FileManager.default.isExecutableFile)

    private let identifier: Int

    private let folder: TemporaryFolder
    private let binary: URL
    /// Where nobody may write.
    let dataDirectory: String
    var errorLog: URL { folder.url.appending(path: "log") }

    /// Takes another user than nobody where it counts what else the user runs.
    init(_ identifier: Int = UnprivilegedUser.identifier) throws {
        self.identifier = identifier
        folder = try TemporaryFolder()
        // The build's own folder may be closed to others.
        binary = folder.url.appending(path: "afterlink")
        try FileManager.default.copyItem(at: Installation.binary, to: binary)
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

    /// Starts `afterlink serve`, which keeps everything in nobody's folder, under a limit as prlimit(1) takes it.
    func serve(_ listen: String, _ settings: [String] = [], limit: String? = nil) throws -> ChildProcess {
        let command =
            [limit ?? "--core=0", Self.setpriv, "--reuid", "\(identifier)", "--regid", "\(identifier)"]
            + ["--clear-groups", "--no-new-privs", "--bounding-set=-all", binary.path, "serve"]
            + ["--listen", listen, "--data-directory", dataDirectory]
        return try ChildProcess(URL(fileURLWithPath: Self.prlimit), command + settings, errorLog: errorLog)
    }
}
