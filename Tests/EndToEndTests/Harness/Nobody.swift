import Foundation
import Support

/// The binary as a user without any right of its own, in a folder of that user's: only root can become one.
final class Nobody {
    static let identifier = 65_534
    private static let setpriv = "/usr/bin/setpriv"

    /// Whether this machine lets a test be nobody.
    static let isPossible = geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv)

    private let folder: TemporaryFolder
    private let binary: URL
    /// Where nobody may write.
    let dataDirectory: String
    var errorLog: URL { folder.url.appending(path: "log") }

    init() throws {
        folder = try TemporaryFolder()
        // The build's own folder may be closed to others.
        binary = folder.url.appending(path: "afterlink")
        try FileManager.default.copyItem(at: Installation.binary, to: binary)
        dataDirectory = folder.path("data")
        try FileManager.default.createDirectory(atPath: dataDirectory, withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.ownerAccountID: Self.identifier, .groupOwnerAccountID: Self.identifier],
            ofItemAtPath: dataDirectory
        )
        for path in [folder.url.path, binary.path] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
    }

    /// Starts `afterlink serve`, which keeps everything in nobody's folder.
    func serve(_ listen: String) throws -> RunningProcess {
        try RunningProcess(
            URL(fileURLWithPath: Self.setpriv),
            [
                "--reuid", "\(Self.identifier)", "--regid", "\(Self.identifier)", "--clear-groups",
                "--no-new-privs", "--bounding-set=-all", binary.path, "serve", "--listen", listen,
                "--data-directory", dataDirectory,
            ],
            errorLog: errorLog
        )
    }
}
