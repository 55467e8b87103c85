import Foundation
import Glibc

/// The run's own folder, on the file system of the cache, so that a copy is measured on the same disk.
final class WorkFolder {
    let path: String
    private var count = 0

    init(in parent: String) throws {
        Self.removeForsaken(in: parent)
        path = "\(parent)/run-\(getpid())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        Interruption.own(path)
    }

    /// Runs that were killed leave gigabytes behind.
    private static func removeForsaken(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            guard name.hasPrefix("run-"), let process = Int32(name.dropFirst(4)), kill(process, 0) != 0 else {
                continue
            }
            try? FileManager.default.removeItem(atPath: "\(parent)/\(name)")
        }
    }

    /// A new folder in it.
    func makeFolder(_ name: String) -> String {
        count += 1
        let folder = "\(path)/\(name)-\(count)"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }
}
