import Foundation
import Fuzzing
import Testing

@Suite("Parsers of bytes from outside")
struct FuzzTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["AFTERLINK_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 1_000

    @Test("keep their promises on the corpus, including former failures", arguments: FuzzEntry.all)
    func corpus(entry: FuzzEntry) throws {
        let corpus = try FuzzCorpus(of: entry)
        #expect(corpus.inputs.count >= 3)
        var run = FuzzRun(entry, corpus: corpus.inputs, seed: 0)
        try run.tryCorpus()
    }

    @Test("keep their promises on mutations of the corpus", arguments: FuzzEntry.all, [1, 2, 3] as [UInt64])
    func mutations(entry: FuzzEntry, seed: UInt64) throws {
        var run = FuzzRun(entry, corpus: try FuzzCorpus(of: entry).inputs, seed: seed)
        try run.mutate(rounds: Self.rounds)
    }
}
