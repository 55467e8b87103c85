import Foundation
import HTTPServer
import Threads

/// The program: reads the command line, measures row by row, and tells.
enum BenchmarkProgram {
    /// - Returns: the exit status.
    static func run(_ arguments: [String]) -> Int32 {
        Descriptors.raiseLimit()
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
            Interruption.cleanUp()
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            return 1
        }
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
        Interruption.watch()
        let yardsticks = try ReferencePrograms()
        let bench = try Workbench(options)
        defer { Interruption.cleanUp() }
        let machine = try Machine(bench, yardsticks)
        bench.say(machine.text)
        var report = Report(machine: machine, options: options)
        for row in options.rows {
            let start = MonotonicTime.now()
            report.add(row, outcome(of: row, bench))
            let seconds = MonotonicTime.now().nanoseconds(since: start) / 1_000_000_000
            bench.say("\(row.rawValue): \(seconds) s")
        }
        try tell(report, options)
        return report.hasFailures ? 1 : 0
    }

    private static func outcome(of row: RowName, _ bench: Workbench) -> Report.Outcome {
        bench.say("\(row.rawValue): \(row.summary)")
        do {
            return .measured(try row.measure(bench))
        } catch let error as NotMeasurable {
            return .notMeasurable(error.reason)
        } catch {
            return .failed("\(error)")
        }
    }

    private static func tell(_ report: Report, _ options: Options) throws {
        print(report.machine.text)
        print(
            options.isQuick
                ? "A quick run: the figures mean nothing."
                : "\(options.rounds) rounds of \(NumberText.short(options.seconds)) s, medians."
        )
        print()
        print(report.table)
        if let path = options.json { try report.json().write(to: URL(fileURLWithPath: path)) }
    }
}
