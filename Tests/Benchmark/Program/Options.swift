/// The options of the command line.
struct Options {
    var rows = Row.standard
    /// How often each contest is measured; an odd number makes the median the value of one round.
    var rounds = 5
    /// For how many seconds each contest is measured in a round.
    var seconds = 5.0
    /// The number of the server's event loops, and of nginx's worker processes.
    var workers = 2
    /// How many traces of each simulated world are played.
    var seeds = 1
    /// The labels of the simulated worlds to play; empty means the standard worlds.
    var worlds: [String] = []
    var isQuick = false
    /// Whether the mixed load lasts an hour instead of ten minutes.
    var isLong = false
    /// The path of the server's binary; nil means the binary in the folder of this program.
    var binary: String?
    /// The path of another server binary to compare with; nil means a comparison with the reference programs.
    var rival: String?
    /// The folder that keeps stored clicks between runs; nil means a folder beside this program.
    var cache: String?
    /// The file for the figures as JSON; nil for none.
    var json: String?
    var listsRows = false
    var showsHelp = false

    static let usage = """
        Usage: Benchmark [options]

        Measures the server side by side with references: nginx's static response, and a plain loop on SQLite.
        Install them with Tests/Benchmark/install-yardsticks, and build the server first:
        swift build -c release --static-swift-stdlib --product afterlink

          --only ROW       Measure this row; may be repeated. --list lists the rows.
          --rounds N       Measure N interleaved rounds, 5 by default. Figures are medians over them.
          --seconds S      Measure for S seconds in each round, 5 by default.
          --workers N      Run the server with N loops and nginx with N processes, 2 by default.
          --world WORLD    Play this simulated world, by name and size, in the row simulation; may be repeated.
          --seeds N        Play N traces of each simulated world, 1 by default.
          --quick          Try every row in a minute, with little data: figures mean nothing, and none is judged.
          --long           Measure an hour of mixed load instead of ten minutes.
          --postgresql     Measure only the rows on PostgreSQL, on a PostgreSQL server that this program starts: Afterlink
                           under load, and pgbench with Afterlink's statements. This program must have been built
                           with --traits PostgreSQL.
          --binary PATH    Measure this binary of the server; by default the one beside this program.
          --against PATH   Compare with this binary of the server instead of the references, turn by turn, each with a
                           database of its own. A figure is the median of the rounds' ratios: above 1 means that
                           --binary is better.
          --cache DIR      Keep stored clicks between runs in this folder (6 GB).
          --json PATH      Write the figures to this file.
          --list           List the rows.

        Exit status: 0 if every row was measured or cannot be measured here, whatever the figures are; 1 if a row
        failed; 2 for a usage error.
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var only: [Row] = []
        while let name = rest.popFirst() {
            switch name {
            case "--only": only.append(try Self.row(try Self.value(of: name, &rest)))
            case "--rounds": rounds = try Self.number(of: name, in: 1...99, &rest)
            case "--seconds": seconds = try Self.number(of: name, in: 0.5...3600, &rest)
            case "--workers": workers = try Self.number(of: name, in: 1...256, &rest)
            case "--world": worlds.append(try Self.value(of: name, &rest))
            case "--seeds": seeds = try Self.number(of: name, in: 1...99, &rest)
            case "--quick": isQuick = true
            case "--long": isLong = true
            case "--postgresql": rows = Row.postgreSQL
            case "--binary": binary = try Self.value(of: name, &rest)
            case "--against": rival = try Self.value(of: name, &rest)
            case "--cache": cache = try Self.value(of: name, &rest)
            case "--json": json = try Self.value(of: name, &rest)
            case "--list": listsRows = true
            case "--help", "-h": showsHelp = true
            default: throw BenchmarkError("There is no option \(name); --help lists the options.")
            }
        }
        if isQuick { (rounds, seconds) = (1, 1) }
        if rival != nil { rows = Row.comparable }
        if !only.isEmpty { rows = only }
        guard !rows.isEmpty else { throw BenchmarkError("Build this program with --traits PostgreSQL.") }
        if rival != nil, let row = rows.first(where: { $0.contests == nil }) {
            throw BenchmarkError("The row \(row.name) cannot compare binaries.")
        }
    }

    private static func value(of name: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw BenchmarkError("\(name) needs a value.") }
        return value
    }

    private static func number<Number: LosslessStringConvertible & Comparable>(
        of name: String,
        in range: ClosedRange<Number>,
        _ rest: inout ArraySlice<String>
    ) throws -> Number {
        let text = try value(of: name, &rest)
        guard let number = Number(text), range.contains(number) else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            throw BenchmarkError("\(name) needs a number \(bounds), not \(text).")
        }
        return number
    }

    private static func row(_ name: String) throws -> Row {
        guard let row = Row.all.first(where: { $0.name == name }) else {
            throw BenchmarkError("There is no row \(name); --list lists the rows.")
        }
        return row
    }
}
