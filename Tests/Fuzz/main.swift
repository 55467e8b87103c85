import Foundation
import Fuzzing
import Glibc

// Usage: Fuzz NAME|all [--rounds N] [--seed S]
//
// Passes mutated inputs to a parser for the given number of rounds, or without end, and stops at the first input that
// breaks a promise or crashes the parser. The program stores that input in the corpus of the tests; after a crash, its
// next start does so.

func fail(_ message: String) -> Never {
    print("Fuzz: \(message)")
    exit(2)
}

/// Returns the number after an option on the command line; nil without the option.
func number(_ option: String) -> UInt64? {
    guard let index = CommandLine.arguments.firstIndex(of: option) else { return nil }
    guard let number = CommandLine.arguments.dropFirst(index + 1).first.flatMap({ UInt64($0) }) else {
        fail("\(option) needs a number")
    }
    return number
}

/// The current input, in a file that remains after a crash.
struct InFlight: ~Copyable {
    private let descriptor: Int32
    private let file: URL

    init(_ file: URL) {
        self.file = file
        // open reads the path, which lives for the call.
        descriptor = unsafe open(file.path(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    }

    /// Writes the length and the input; readers ignore the rest of a longer, earlier input.
    func write(_ input: [UInt8]) {
        let length = UInt32(input.count)
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + input
        // pwrite reads the array's memory and keeps no pointer.
        _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        _ = close(descriptor)
        try? FileManager.default.removeItem(at: file)
    }

    /// Returns the input at which an earlier run crashed; nil if there is none.
    static func remaining(in file: URL) -> [UInt8]? {
        guard let bytes = try? Data(contentsOf: file), bytes.count >= 4 else { return nil }
        let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return Array(bytes.dropFirst(4).prefix(length))
    }
}

func run(_ entry: FuzzEntry, rounds: Int, seed: UInt64) throws {
    let corpus = try FuzzCorpus(of: entry)
    if let input = InFlight.remaining(in: corpus.inFlight) {
        print("\(entry.name): stored the input of a crash in \(try corpus.keep(input).path())")
    }
    let inFlight = InFlight(corpus.inFlight)
    var run = FuzzRun(entry, corpus: try FuzzCorpus(of: entry).inputs, seed: seed)
    do throws(FuzzRun.Finding) {
        try run.tryCorpus { inFlight.write($0) }
        try run.mutate(rounds: rounds) { inFlight.write($0) }
    } catch {
        print("\(entry.name), seed \(seed): \(error)\nstored in \(try corpus.keep(error.input).path())")
        _ = consume inFlight
        exit(1)
    }
}

let names = FuzzEntry.all.map(\.name).joined(separator: ", ")
guard CommandLine.arguments.count > 1 else { fail("name an entry, or all: \(names)") }
let name = CommandLine.arguments[1]
let entries = FuzzEntry.all.filter { name == "all" || $0.name == name }
guard !entries.isEmpty else { fail("there is no entry \(name); there are \(names)") }

let rounds = number("--rounds").flatMap { Int(exactly: $0) }
var seed = number("--seed") ?? UInt64.random(in: 0...UInt64.max)
let start = ContinuousClock.now
repeat {
    for entry in entries {
        try run(entry, rounds: rounds ?? 100_000, seed: seed)
        let time = ContinuousClock.now - start
        print("\(entry.name), seed \(seed): \(rounds ?? 100_000) rounds, \(time) in all")
    }
    seed &+= 1
} while rounds == nil
