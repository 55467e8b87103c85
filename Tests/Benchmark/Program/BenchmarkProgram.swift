import Dispatch
import Foundation
import Glibc

/// The program: reads the command line, measures row by row, and prints a table.
enum BenchmarkProgram {
    /// - Returns: the exit status.
    static func run(_ arguments: [String]) -> Int32 {
        raiseDescriptorLimit()
        do {
            if let load = arguments.first.flatMap(LoadProgram.init) {
                try load.run(Array(arguments.dropFirst()))
                return 0
            }
            let options: Options
            do throws(BenchmarkError) {
                options = try Options(arguments)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                return 2
            }
            return try run(options)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return 1
        }
    }

    /// Lets this process and its children open as many files as the system allows: ten thousand connections need it.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        // The kernel fills the local value, and reads it in the second call.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func run(_ options: Options) throws -> Int32 {
        if options.showsHelp {
            print(Options.usage)
            return 0
        }
        if options.listsRows {
            for row in RowName.allCases { print("\(row.rawValue): \(row.summary)") }
            return 0
        }
        let yardsticks = try ReferencePrograms()
        let bench = try Workbench(options)
        defer { bench.folder.delete() }
        let rival = try options.rival.map { Workbench(bench, with: try ServerBinary($0)) }
        let machine = try Machine(bench, yardsticks, rival?.binary)
        bench.say(machine.text)
        var report = Report(machine: machine, options: options)
        for row in options.rows {
            let watch = Stopwatch()
            bench.say("\(row.rawValue): \(row.summary)")
            report.add(row, outcome(of: row, bench, rival))
            bench.say("\(row.rawValue): \(Int(watch.seconds)) s")
        }
        print(machine.text)
        print(
            options.isQuick
                ? "A quick run: the figures mean nothing."
                : "\(options.rounds) rounds of \(NumberText.short(options.seconds)) s, medians."
        )
        print("\n\(report.table)")
        if let path = options.json { try report.json().write(to: URL(fileURLWithPath: path)) }
        return report.hasFailures ? 1 : 0
    }

    private static func outcome(of row: RowName, _ bench: Workbench, _ rival: Workbench?) -> Report.Outcome {
        do {
            guard let rival else { return .measured(try row.measure(bench)) }
            return .measured(try Comparison.measure(row, bench, against: rival))
        } catch let error as NotMeasurable {
            return .notMeasurable(error.reason)
        } catch {
            return .failed("\(error)")
        }
    }
}

/// The time since it was made, by a clock that nobody sets.
struct Stopwatch {
    private let start = Self.nanoseconds

    /// The clock: nanoseconds since some moment before the process started.
    static var nanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds }

    var microseconds: Double { Double(Self.nanoseconds - start) / 1000 }
    var seconds: Double { microseconds / 1e6 }
}
