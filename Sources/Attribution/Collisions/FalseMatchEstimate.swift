/// Estimates how many matches are wrong, and which threshold or window would make them fewer.
///
/// A match of probability p is wrong with probability 1 − p. The posterior's probabilities are calibrated
/// (see ``Calibration``), and they include addresses, systems and delays, which a mere count of equal
/// fingerprints does not. Memory is a table of fixed size.
public struct FalseMatchEstimate: Equatable, Sendable {
    /// The windows to recommend in addition to the current one, the shortest first.
    static let windows: [AttributionWindow] = [
        600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 172_800, 259_200, 604_800, 1_209_600,
        2_592_000,
    ].compactMap { AttributionWindow(seconds: $0) }

    /// Launches whose most likely answer has a probability and a click's age within one step.
    private struct Cell: Equatable, Sendable {
        var launches = 0.0
        var matches = 0.0
        var wrong = 0.0
        var wrongMatches = 0.0
    }

    /// The number of steps of a probability's range.
    private static let steps = 200

    /// The cells in the order of the windows, of which the shortest that contains the click counts, then of the
    /// probabilities.
    private var cells = [Cell](repeating: Cell(), count: windows.count * steps)
    /// The square of the spread.
    private var variance = 0.0

    public init() {}

    /// Adds a launch to which a click may have led.
    ///
    /// - Parameters:
    ///   - probability: the unlimited probability of the answer, or of the most likely one without a match.
    ///   - ageSeconds: the age of the credited click; nil if it is unknown.
    ///   - isMatch: whether the answer was a match.
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

    /// The number of matches.
    public var matches: Int { Int(cells.reduce(0) { $0 + $1.matches }) }
    /// The number of matches that are expected to be wrong.
    public var expectedFalse: Double { cells.reduce(0) { $0 + $1.wrongMatches } }
    /// One standard deviation of ``expectedFalse``.
    public var spread: Double { variance.squareRoot() }
    /// The share of matches that is expected to be wrong; nil without a match.
    public var falseShare: Double? {
        let matches = cells.reduce(0) { $0 + $1.matches }
        return matches > 0 ? expectedFalse / matches : nil
    }

    /// Returns the settings that limit the share of wrong matches to each of ``FalseMatchLimit/shares``.
    public func limits(within current: AttributionWindow) -> [FalseMatchLimit] {
        FalseMatchLimit.shares.map { share in
            FalseMatchLimit(
                share: share,
                threshold: threshold(keepingFalseBelow: share),
                window: window(keepingFalseBelow: share, within: current)
            )
        }
    }

    /// Returns the lowest minimum of probability with which at most this share of matches is wrong, and the
    /// number of matches with it; nil if there is none.
    ///
    /// It assumes the current window, and the rule of probability even if the app uses another one.
    public func threshold(keepingFalseBelow share: Double) -> FalseMatchLimit.Threshold? {
        var launches = 0.0
        var wrong = 0.0
        var best: FalseMatchLimit.Threshold?
        for step in (0..<Self.steps).reversed() {
            for window in Self.windows.indices {
                launches += cells[window * Self.steps + step].launches
                wrong += cells[window * Self.steps + step].wrong
            }
            guard launches > 0, wrong <= share * launches else { continue }
            best = .init(minimum: Double(step) / Double(Self.steps), matches: Int(launches))
        }
        return best
    }

    /// Returns the longest window, at most the current one, with which at most this share of matches is
    /// wrong, and the number of matches with it; nil if there is none, or none that keeps ``minimumKept`` of
    /// the matches expected to be right.
    ///
    /// It assumes the current policy. Records contain nothing about windows longer than the current one.
    public func window(
        keepingFalseBelow share: Double,
        within current: AttributionWindow
    ) -> FalseMatchLimit.Window? {
        let all = sum(upTo: Self.windows.count)
        let leastRight = Self.minimumKept * (all.matches - all.wrong)
        let shorter = Self.windows.indices.filter { Self.windows[$0].seconds < current.seconds }
        // The current window contains every click, even one that was recorded under another window.
        let sums = [(current, all)] + shorter.reversed().map { (Self.windows[$0], sum(upTo: $0 + 1)) }
        let best = sums.first { _, sum in
            sum.matches > 0 && sum.wrong <= share * sum.matches && sum.matches - sum.wrong >= leastRight
        }
        return best.map { .init(window: $0.0, matches: Int($0.1.matches)) }
    }

    private func sum(upTo end: Int) -> (matches: Double, wrong: Double) {
        cells[..<(end * Self.steps)].reduce(into: (0, 0)) { sum, cell in
            sum.0 += cell.matches
            sum.1 += cell.wrongMatches
        }
    }

    /// The smallest share of right matches that a window must keep to be worth the wrong ones that it avoids.
    public static let minimumKept = 0.5

    /// Adds a recorded check; ignores repeated answers and certain matches.
    ///
    /// - Parameters:
    ///   - facts: the record.
    ///   - clickedAt: the time of the answer's click, or of the most likely one.
    public mutating func add(_ facts: CheckFacts, clickedAt: Timestamp?) {
        guard facts.outcome != .replay, facts.method?.confidence == nil, let confidence = facts.confidence
        else { return }
        var probability = confidence
        // The stated probability has a limit; the shares are recorded without it.
        if confidence >= Verdict.highestConfidence, !facts.isCampaignOnly {
            probability = max(confidence, facts.shares.first?.probability ?? confidence)
        }
        add(
            probability: probability,
            ageSeconds: clickedAt.map { Double(max(0, facts.at.milliseconds(since: $0))) / 1000 },
            isMatch: facts.outcome == .match
        )
    }
}

/// The settings that limit the share of wrong matches, and how many matches they leave.
public struct FalseMatchLimit: Equatable, Sendable {
    public struct Threshold: Equatable, Sendable {
        /// The lowest minimum of probability that achieves it, 0…1.
        public var minimum: Double
        /// The number of matches under it.
        public var matches: Int

        public init(minimum: Double, matches: Int) {
            self.minimum = minimum
            self.matches = matches
        }
    }

    public struct Window: Equatable, Sendable {
        /// The longest window that achieves it.
        public var window: AttributionWindow
        /// The number of matches under it.
        public var matches: Int

        public init(window: AttributionWindow, matches: Int) {
            self.window = window
            self.matches = matches
        }
    }

    /// The share of all matches, 0…1.
    public var share: Double
    /// Nil if no minimum achieves it.
    public var threshold: Threshold?
    /// Nil if no window achieves it at an acceptable price; see ``FalseMatchEstimate/minimumKept``.
    public var window: Window?

    /// The shares in reports.
    public static let shares = [0.01, 0.05]

    public init(share: Double, threshold: Threshold? = nil, window: Window? = nil) {
        self.share = share
        self.threshold = threshold
        self.window = window
    }
}
