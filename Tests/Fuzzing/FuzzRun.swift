/// Rounds of mutated inputs for one entry, the same ones for the same seed and corpus.
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

    /// Tries the corpus as it is.
    public mutating func tryCorpus(telling tell: ([UInt8]) -> Void = { _ in }) throws(Finding) {
        for input in corpus { try attempt(input, tell) }
    }

    /// Tries so many mutations of it.
    public mutating func mutate(rounds: Int, telling tell: ([UInt8]) -> Void = { _ in }) throws(Finding) {
        for _ in 0..<rounds { try attempt(nextInput(), tell) }
    }

    /// The next mutation of the corpus, for those who try it elsewhere.
    public mutating func nextInput() -> [UInt8] {
        var input = corpus.isEmpty ? [] : corpus[random.below(corpus.count)]
        random.mutate(&input, tokens: entry.tokens, corpus: corpus)
        return input
    }

    private mutating func attempt(_ input: [UInt8], _ tell: ([UInt8]) -> Void) throws(Finding) {
        tell(input)
        do throws(BrokenPromise) {
            try entry.check(input, &random)
        } catch {
            throw Finding(input: input, promise: error)
        }
    }
}
