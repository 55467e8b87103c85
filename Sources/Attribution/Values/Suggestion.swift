/// Finds the word that an operator probably meant when they mistyped one.
package enum Suggestion {
    /// Returns the only known word that starts with `word`, if `word` has three letters or more; otherwise
    /// the nearest known word, or nil if none is near.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let lowered = word.lowercased()
        let tolerance = max(1, min(3, lowered.count / 3 + 1))
        let ranked = known.map { (word: $0, distance: distance(from: lowered, to: $0)) }
        let prefixed = known.filter { lowered.count >= 3 && $0.hasPrefix(lowered) }
        if prefixed.count == 1 { return prefixed.first }
        guard let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= tolerance
        else { return nil }
        return best.word
    }

    /// Counts the insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
    ///
    /// This is the optimal string alignment distance; only three rows of its table are in memory.
    package static func distance(from first: String, to second: String) -> Int {
        let left = Array(first.utf8)
        let right = Array(second.utf8)
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                let swaps =
                    row > 0 && column > 0
                    && left[row] == right[column - 1] && left[row - 1] == right[column]
                if swaps { best = min(best, beforeLast[column - 1] + 1) }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
