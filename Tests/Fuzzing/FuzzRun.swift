/// Tries mutated inputs on one entry, the same inputs for the same seed and corpus.
public struct FuzzRun: Sendable {
    /// An input that broke a promise.
    public struct Finding: Error, CustomStringConvertible {
        public let input: [UInt8]
        public let promise: BrokenPromise

        public var description: String {
            "\(promise): \(String(reflecting: String(decoding: input.prefix(400), as: UTF8.self)))"
        }
    }

    private let entry: FuzzEntry
    private let corpus: [[UInt8]]
    private var random: FuzzGenerator

    public init(_ entry: FuzzEntry, corpus: [[UInt8]], seed: UInt64) {
        self.entry = entry
        self.corpus = corpus
        random = FuzzGenerator(seed: seed)
    }

    /// Tries each input of the corpus unchanged; passes each to `report` before it is tried.
    public mutating func tryCorpus(reporting report: ([UInt8]) -> Void = { _ in }) throws(Finding) {
        for input in corpus { try attempt(input, report) }
    }

    /// Tries the given number of mutations; passes each to `report` before it is tried.
    public mutating func mutate(rounds: Int, reporting report: ([UInt8]) -> Void = { _ in }) throws(Finding) {
        for _ in 0..<rounds { try attempt(nextInput(), report) }
    }

    /// Returns the next mutation of the corpus, for callers with another parser.
    public mutating func nextInput() -> [UInt8] {
        var input = corpus.isEmpty ? [] : corpus[random.below(corpus.count)]
        random.mutate(&input, tokens: entry.tokens, corpus: corpus)
        return input
    }

    private mutating func attempt(_ input: [UInt8], _ report: ([UInt8]) -> Void) throws(Finding) {
        report(input)
        do throws(BrokenPromise) {
            try entry.check(input, &random)
        } catch {
            throw Finding(input: input, promise: error)
        }
    }
}
