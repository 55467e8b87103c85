public import Foundation

/// A folder of a test's own, deleted with the value.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        path =
            FileManager.default.temporaryDirectory.appending(path: "afterlink-test-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    public var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }
}
