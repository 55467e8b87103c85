import Foundation

/// What the figures were measured on.
struct Machine: Encodable {
    let processor: String
    let cores: Int
    let memoryGigabytes: Double
    let kernel: String
    let fileSystem: String
    /// Median of syncs of a page that was appended, at the start of the run.
    let syncMicroseconds: Double
    /// What else ran: processes that wanted a core in the last minute, before the run began.
    let loadBefore: Double
    let versions: [String]

    init(_ bench: Workbench, _ yardsticks: ReferencePrograms) throws {
        processor = Self.field("model name", in: "/proc/cpuinfo") ?? "unknown"
        cores = ProcessInfo.processInfo.activeProcessorCount
        memoryGigabytes = (Double(ProcessInfo.processInfo.physicalMemory) / 1e9 * 10).rounded() / 10
        kernel = Self.text("/proc/sys/kernel/osrelease")
        fileSystem = try ChildProcess.output("stat", ["-f", "-c", "%T", bench.folder.path])
        syncMicroseconds = bench.syncMicroseconds
        loadBefore = Self.text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) } ?? .nan
        versions = yardsticks.versions + [bench.binary.version]
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
