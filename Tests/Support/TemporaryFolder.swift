public import Foundation

/// A folder for one test, deleted when this value is released.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        path = Self.fresh("afterlink-test").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// Deletes the folder although this value is not released, for example when the process ends.
    public func remove() { try? FileManager.default.removeItem(atPath: path) }

    public var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }
}

extension TemporaryFolder {
    /// Returns the name of a folder that does not exist; the folder is not created.
    public static func fresh(_ prefix: String) -> URL {
        place.appending(path: "\(prefix)-\(UUID().uuidString)")
    }

    /// The parent of the tests' folders: `TMPDIR` if set, else `/dev/shm` if it has 4 GB free and can run programs,
    /// else the system's folder for temporary files.
    ///
    /// A sync of a shared disk may take seconds, so tests use memory; tests of slow and failing disks simulate them.
    public static let place: URL = {
        let memory = "/dev/shm"
        var status = statvfs()
        // statvfs reads the path during the call and fills the local value.
        guard ProcessInfo.processInfo.environment["TMPDIR"] == nil, unsafe statvfs(memory, &status) == 0,
            status.f_flag & (readOnly | notExecutable) == 0,
            FileManager.default.isWritableFile(atPath: memory),
            UInt64(status.f_bavail) * UInt64(status.f_frsize) > 4_000_000_000
        else { return FileManager.default.temporaryDirectory }
        return URL(filePath: memory, directoryHint: .isDirectory)
    }()

    /// `ST_RDONLY` of statvfs(3).
    private static let readOnly: UInt = 1
    /// `ST_NOEXEC` of statvfs(3): some tests run a copy of the binary from their folder.
    private static let notExecutable: UInt = 8
}
