import Foundation
import Glibc

/// What the kernel says of a running process, read from `/proc`.
struct ProcessFigures {
    let identifier: Int32

    /// Resident memory in bytes.
    func residentBytes() throws -> Double {
        try bytes("VmRSS:")
    }

    /// The most resident memory that there ever was, in bytes.
    func peakResidentBytes() throws -> Double {
        try bytes("VmHWM:")
    }

    func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
    }

    /// Processor time used so far by the process and its children that still run, in seconds.
    func processorSeconds() throws -> Double {
        try ([identifier] + childIdentifiers()).reduce(0) { try $0 + Self.seconds(of: $1) }
    }

    private func bytes(_ name: String) throws -> Double {
        guard let line = try text("status").split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({
                Double($0)
            })
        else { throw Trouble("The process \(identifier) does not tell its memory.") }
        return kibibytes * 1024
    }

    private func childIdentifiers() throws -> [Int32] {
        try text("task/\(identifier)/children").split(separator: " ").compactMap { Int32($0) }
    }

    private static func seconds(of identifier: Int32) throws -> Double {
        // The name in parentheses may hold blanks; after it, user and system ticks are fields 12 and 13.
        let line = try ProcessFigures(identifier: identifier).text("stat")
        let fields = line.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw Trouble("The process \(identifier) does not tell its processor time.")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "/proc/\(identifier)/\(name)", encoding: .utf8)
    }
}
