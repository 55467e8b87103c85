import Foundation
import Glibc
import HTTPServer
import Threads

/// How long the disk takes to hold a page for good: what every commit waits for.
enum DiskSync {
    /// The median of 100 syncs of an appended page, in microseconds.
    static func medianMicroseconds(in folder: String) throws -> Double {
        let path = folder + "/sync"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let page = Data(repeating: 1, count: 4096)
        var times: [Double] = []
        for _ in 0..<100 {
            let start = MonotonicTime.now()
            try file.write(contentsOf: page)
            guard fdatasync(file.fileDescriptor) == 0 else {
                throw BenchmarkError("\(path) cannot be synced.")
            }
            times.append(Double(MonotonicTime.now().nanoseconds(since: start)) / 1000)
        }
        return times.median
    }
}
