import Foundation
import Glibc
import Support

/// The machine on which the figures were measured.
struct Machine: Encodable {
    let processor: String
    let cores: Int
    let memoryGigabytes: Double
    let kernel: String
    let fileSystem: String
    /// The median duration of syncs of an appended page, at the start of the run.
    let syncMicroseconds: Double
    /// The number of processes that needed a core, on average over the minute before the run.
    let loadBefore: Double
    let versions: [String]

    init(_ bench: Workbench, versions: [String]) throws {
        self.versions = versions
        processor = Self.field("model name", in: "/proc/cpuinfo") ?? "unknown"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryGigabytes = (Double(ProcessInfo.processInfo.physicalMemory) / 1e9 * 10).rounded() / 10
        kernel = Self.text("/proc/sys/kernel/osrelease")
        let type = try ExternalProgram.run("stat", ["-f", "-c", "%T", bench.folder.path])
        fileSystem = String(decoding: type, as: UTF8.self).trimmingCharacters(in: .newlines)
        syncMicroseconds = bench.syncMicroseconds
        loadBefore = Self.text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) } ?? .nan
    }

    var text: String {
        """
        \(cores) cores of \(processor), \(NumberText.short(memoryGigabytes)) GB, Linux \(kernel), \(fileSystem); \
        a sync to disk takes \(NumberText.short(syncMicroseconds)) µs; load before: \(loadBefore); \
        \(versions.joined(separator: ", "))
        """
    }

    private static func text(_ path: String) -> String {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func field(_ name: String, in path: String) -> String? {
        text(path).split(separator: "\n").first { $0.hasPrefix(name) }?.split(separator: ":").last
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

/// Measures the time that the disk needs to store a page durably, for which every commit waits.
enum DiskSync {
    /// Returns the median duration of 100 syncs of an appended page, in microseconds.
    static func medianMicroseconds(in folder: String) throws -> Double {
        let path = folder + "/sync"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let page = Data(repeating: 1, count: 4096)
        var times: [Double] = []
        for _ in 0..<100 {
            let watch = Stopwatch()
            try file.write(contentsOf: page)
            guard fdatasync(file.fileDescriptor) == 0 else {
                throw BenchmarkError("\(path) cannot be synced.")
            }
            times.append(watch.microseconds)
        }
        return times.median
    }
}
