/// How many matches are expected to be wrong, and under which threshold and window fewer would be.
///
/// A match of probability p is wrong with probability 1 − p: what the posterior states is borne out (see
/// ``Calibration``), and takes addresses, systems and delays into account, which a mere count of equal fingerprints
/// does not. Memory is a table of fixed size.
public struct FalseMatchEstimate: Equatable, Sendable {
    /// The windows that may be recommended, the shortest first.
    public static let windows: [AttributionWindow] = [
        600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 172_800, 259_200, 604_800, 1_209_600,
        2_592_000,
    ].compactMap { AttributionWindow(seconds: $0) }

    /// Launches whose likeliest answer has such a probability and comes from a click of such an age.
    private struct Cell: Equatable, Sendable {
        var launches = 0.0
        var matches = 0.0
        var wrong = 0.0
        var wrongMatches = 0.0
    }

    /// Parts of a probability's range.
    private static let steps = 200

    /// By window, the shortest that holds the click; then by probability.
    private var cells = [Cell](repeating: Cell(), count: windows.count * steps)
    /// The square of the spread.
    private var variance = 0.0

    public init() {}

    /// Counts a launch that a click may have led to.
    ///
    /// - Parameters:
    ///   - probability: that of the answer, or of the likeliest one where there was no match; without a limit.
    ///   - ageSeconds: how old the credited click was; nil where that is not known.
    ///   - isMatch: whether a match was given.
    public mutating func add(probability: Double, ageSeconds: Double?, isMatch: Bool) {
        guard !probability.isNaN else { return }
        let probability = min(max(probability, 0), 1)
        let window =
            ageSeconds.flatMap { age in Self.windows.firstIndex { Double($0.seconds) >= age } }
            ?? Self.windows.count - 1
        let step = min(Int(probability * Double(Self.steps)), Self.steps - 1)
        let index = window * Self.steps + step
        cells[index].launches += 1
        cells[index].wrong += 1 - probability
        guard isMatch else { return }
        cells[index].matches += 1
        cells[index].wrongMatches += 1 - probability
        variance += probability * (1 - probability)
    }

    /// Matches that were given.
    public var matches: Int { Int(cells.reduce(0) { $0 + $1.matches }) }
    /// How many of them are expected to be wrong.
    public var expectedFalse: Double { cells.reduce(0) { $0 + $1.wrongMatches } }
    /// One standard deviation of ``expectedFalse``.
    public var spread: Double { variance.squareRoot() }
    /// The share of matches that is expected to be wrong; nil without a match.
    public var falseShare: Double? {
        let matches = cells.reduce(0) { $0 + $1.matches }
        return matches > 0 ? expectedFalse / matches : nil
    }

    /// The lowest minimum of probability under which at most such a share of matches is wrong, and how many matches
    /// there would be; nil where no minimum does that.
    ///
    /// The rule is that of probability, whatever it is now, and the window is as it is.
    public func threshold(keepingFalseBelow share: Double) -> (minimum: Double, matches: Int)? {
        var launches = 0.0
        var wrong = 0.0
        var best: (minimum: Double, matches: Int)?
        for step in (0..<Self.steps).reversed() {
            for window in Self.windows.indices {
                launches += cells[window * Self.steps + step].launches
                wrong += cells[window * Self.steps + step].wrong
            }
            guard launches > 0, wrong <= share * launches else { continue }
            best = (Double(step) / Double(Self.steps), Int(launches))
        }
        return best
    }

    /// The longest of ``windows`` under which at most such a share of matches is wrong, and how many matches there
    /// would be; nil where none does that.
    ///
    /// The policy is as it is. Windows longer than the present one show what is known of them, which is nothing more.
    public func window(keepingFalseBelow share: Double) -> (window: AttributionWindow, matches: Int)? {
        var matches = 0.0
        var wrong = 0.0
        var best: (window: AttributionWindow, matches: Int)?
        for (index, window) in Self.windows.enumerated() {
            for cell in cells[index * Self.steps..<(index + 1) * Self.steps] {
                matches += cell.matches
                wrong += cell.wrongMatches
            }
            guard matches > 0, wrong <= share * matches else { continue }
            best = (window, Int(matches))
        }
        return best
    }
}
