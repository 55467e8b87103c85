import Foundation

/// The system's figures of a running process.
public struct ProcessFigures: Sendable {
    private let folder: String

    public init(of identifier: Int32) { folder = "/proc/\(identifier)" }

    /// Resident memory in bytes; 0 once the process is gone.
    public var residentByteCount: Int { byteCount("VmRSS") }

    /// The largest resident memory since the start, in bytes; 0 once the process is gone.
    public var peakResidentByteCount: Int { byteCount("VmHWM") }

    /// Virtual memory in bytes; 0 once the process is gone.
    public var virtualByteCount: Int { byteCount("VmSize") }

    /// The child processes that the process's main thread started and that still run.
    public var children: [ProcessFigures] {
        let identifier = folder.split(separator: "/").last ?? ""
        return text("task/\(identifier)/children").split(separator: " ").compactMap { Int32($0) }
            .map(ProcessFigures.init(of:))
    }

    /// The number of open descriptors; 0 once the process is gone.
    public var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").count) ?? 0
    }

    /// The number of open sockets; 0 once the process is gone.
    public var socketCount: Int {
        let folder = "\(folder)/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return numbers.count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
            return target?.hasPrefix("socket:") == true
        }
    }

    public var threadCount: Int { Int(status("Threads")) ?? 0 }

    /// Processor time used so far, in hundredths of a second.
    public var processorTicks: Int {
        let fields = text("stat").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12 else { return 0 }
        return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }

    /// How long each thread has been ready to run while others had the cores, by the thread's id.
    public var waitsForCores: [String: Duration] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/task")) ?? []
        let waits = threads.map { ($0, Self.waitForCores(ofThreadIn: "\(folder)/task/\($0)")) }
        return Dictionary(uniqueKeysWithValues: waits)
    }

    /// How long a thread has been ready to run while others had the cores; zero once it is gone.
    ///
    /// Source: the second number of the kernel's `schedstat`, in nanoseconds (Documentation/scheduler/sched-stats).
    static func waitForCores(ofThreadIn folder: String) -> Duration {
        let text = (try? String(contentsOfFile: folder + "/schedstat", encoding: .utf8)) ?? ""
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        return numbers.count < 2 ? .zero : .nanoseconds(numbers[1])
    }

    /// Whether the process ignores a signal.
    public func ignores(_ signal: Int32) -> Bool {
        (UInt64(status("SigIgn"), radix: 16) ?? 0) >> UInt64(signal - 1) & 1 == 1
    }

    private func byteCount(_ name: String) -> Int {
        status(name).split(separator: " ").first.flatMap { Int($0) }.map { $0 * 1024 } ?? 0
    }

    private func status(_ name: String) -> String {
        let line = text("status").split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) } ?? ""
    }

    private func text(_ file: String) -> String {
        (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? ""
    }
}
