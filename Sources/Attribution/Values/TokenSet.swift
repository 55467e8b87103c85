/// Finds many words in one pass over a text, byte by byte.
struct TokenSet: Sendable {
    private let tokens: [[UInt8]]
    /// For each byte, the positions in `tokens` of the words that start with it.
    private let byFirstByte: [[Int]]
    /// A bit for each pair of bytes, set if a word starts with the pair; most positions of a text need only this test.
    private let pairs: [UInt64]

    /// Creates the set of words, each of at least two bytes; ``firstMatch(in:)`` prefers earlier words.
    init(_ words: [String]) {
        tokens = words.map { Array($0.utf8) }
        var byFirstByte = [[Int]](repeating: [], count: 256)
        var pairs = [UInt64](repeating: 0, count: 1024)
        for (position, token) in tokens.enumerated() {
            precondition(token.count >= 2, "a token has two bytes or more")
            byFirstByte[Int(token[0])].append(position)
            let pair = Self.pair(token[0], token[1])
            pairs[pair >> 6] |= 1 << UInt64(pair & 63)
        }
        self.byFirstByte = byFirstByte
        self.pairs = pairs
    }

    /// Returns the index of the first word of the list that occurs anywhere in `text`.
    func firstMatch(in text: [UInt8]) -> Int? {
        guard text.count >= 2 else { return nil }
        var best: Int?
        for start in 0..<text.count - 1 {
            let pair = Self.pair(text[start], text[start + 1])
            guard pairs[pair >> 6] & 1 << UInt64(pair & 63) != 0 else { continue }
            for position in byFirstByte[Int(text[start])] {
                guard position < best ?? .max, text[start...].starts(with: tokens[position]) else { continue }
                best = position
            }
        }
        return best
    }

    private static func pair(_ first: UInt8, _ second: UInt8) -> Int { Int(first) << 8 | Int(second) }
}
