import Dispatch
import Foundation
import Glibc

/// A failure that ends the benchmark or one row of it, with a sentence for the person who started it.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The reason why a row cannot be measured on this machine or with this binary.
struct NotMeasurable: Error { let reason: String }

/// The program: reads the command line, measures row by row, and prints a table.
enum BenchmarkProgram {
    /// - Returns: the exit status.
    static func run(_ arguments: [String]) -> Int32 {
        raiseDescriptorLimit()
        var status: Int32 = 1
        do {
            if let load = arguments.first.flatMap(LoadProgram.init) {
                try load.run(arguments.last ?? "")
                return 0
            }
            status = 2
            let options = try Options(arguments)
            status = 1
            return try run(options)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return status
        }
    }

    /// Lets this process and its children open as many files as the system allows, for ten thousand connections.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        // The kernel fills the local value, and reads it in the second call.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func run(_ options: Options) throws -> Int32 {
        guard !options.showsHelp else {
            print(Options.usage)
            return 0
        }
        guard !options.listsRows else {
            for row in Row.all { print("\(row.name): \(row.summary)") }
            return 0
        }
        var versions = try Nginx.referenceVersions()
        #if PostgreSQL
        versions += (try? PostgreSQLBench.version()).map { [$0] } ?? []
        #endif
        let bench = try Workbench(options)
        defer { bench.folder.delete() }
        let rival = try options.rival.map { Workbench(bench, with: try ServerBinary($0)) }
        let binaries = [bench.binary.version] + (rival.map { ["against \($0.binary.version)"] } ?? [])
        var report = Report(machine: try Machine(bench, versions: versions + binaries), options: options)
        bench.say(report.machine.text)
        for row in options.rows {
            let watch = Stopwatch()
            bench.say("\(row.name): \(row.summary)")
            report.add(measure(row, bench, rival))
            bench.say("\(row.name): \(Int(watch.seconds)) s")
        }
        print("\(report.machine.text)\n\(report.method)\n\n\(report.table)")
        if let path = options.json { try report.json().write(to: URL(fileURLWithPath: path)) }
        return report.rows.contains { $0.failed != nil } ? 1 : 0
    }

    private static func measure(_ row: Row, _ bench: Workbench, _ rival: Workbench?) -> Report.Row {
        var result = Report.Row(name: row.name)
        do {
            result.figures = try rival.flatMap { try row.compare(bench, with: $0) } ?? row.measure(bench)
        } catch let error as NotMeasurable {
            result.notMeasured = error.reason
        } catch {
            result.failed = "\(error)"
        }
        return result
    }
}

/// Measures the time since this value was created, by a monotonic clock.
struct Stopwatch {
    private let start = Self.nanoseconds

    /// The clock's time, in nanoseconds since an arbitrary start.
    static var nanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var microseconds: Double { Double(Self.nanoseconds - start) / 1000 }
    var seconds: Double { microseconds / 1e6 }
}
