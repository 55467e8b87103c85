/// How many matches are expected to be wrong, and under which threshold and window fewer would be.
///
/// A match of probability p is wrong with probability 1 − p: what the posterior states is borne out (see
/// ``Calibration``), and takes addresses, systems and delays into account, which a mere count of equal fingerprints
/// does not. Memory is a table of fixed size.
public struct FalseMatchEstimate: Equatable, Sendable {
    /// The windows that may be recommended beside the present one, the shortest first.
    static let windows: [AttributionWindow] = [
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

    /// What keeps the share of wrong matches low, for each of ``FalseMatchLimit/shares``.
    public func limits(within present: AttributionWindow) -> [FalseMatchLimit] {
        FalseMatchLimit.shares.map { share in
            FalseMatchLimit(
                share: share,
                threshold: threshold(keepingFalseBelow: share),
                window: window(keepingFalseBelow: share, within: present)
            )
        }
    }

    /// The lowest minimum of probability under which at most such a share of matches is wrong, and how many matches
    /// there would be; nil where no minimum does that.
    ///
    /// The rule is that of probability, whatever it is now, and the window is as it is.
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

    /// The longest window up to the present one under which at most such a share of matches is wrong, and how many
    /// matches there would be; nil where none does that, or none that keeps ``leastKept`` of the matches expected to be
    /// right.
    ///
    /// The policy is as it is. Of windows longer than the present one nothing is known.
    public func window(
        keepingFalseBelow share: Double,
        within present: AttributionWindow
    ) -> FalseMatchLimit.Window? {
        let all = sum(upTo: Self.windows.count)
        let leastRight = Self.leastKept * (all.matches - all.wrong)
        let shorter = Self.windows.indices.filter { Self.windows[$0].seconds < present.seconds }
        // The present one holds whatever it was under which clicks were recorded.
        let sums = [(present, all)] + shorter.reversed().map { (Self.windows[$0], sum(upTo: $0 + 1)) }
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

    /// A window that costs more of the right matches is not worth the wrong ones that it spares.
    public static let leastKept = 0.5
}

extension FalseMatchEstimate {
    /// Counts a recorded check; a repeated answer, and one that a surer way than a fingerprint gave, is left out.
    ///
    /// - Parameters:
    ///   - facts: what is recorded.
    ///   - clickedAt: when the click was made that was answered, or that was the likeliest.
    public mutating func add(_ facts: CheckFacts, clickedAt: Timestamp?) {
        guard facts.outcome != .replay, facts.method?.confidence == nil, let confidence = facts.confidence
        else { return }
        var probability = confidence
        // What was stated has a limit; what it was worked out from is recorded without.
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

/// What would keep the share of wrong matches at most this high, and what it would cost.
public struct FalseMatchLimit: Equatable, Sendable {
    public struct Threshold: Equatable, Sendable {
        /// The lowest minimum of probability that does it, 0…1.
        public var minimum: Double
        /// How many matches there would be under it.
        public var matches: Int

        public init(minimum: Double, matches: Int) {
            self.minimum = minimum
            self.matches = matches
        }
    }

    public struct Window: Equatable, Sendable {
        /// The longest window that does it.
        public var window: AttributionWindow
        /// How many matches there would be under it.
        public var matches: Int

        public init(window: AttributionWindow, matches: Int) {
            self.window = window
            self.matches = matches
        }
    }

    /// Of all matches, 0…1.
    public var share: Double
    /// Nil where no minimum does it.
    public var threshold: Threshold?
    /// Nil where no window does it at a price that is worth it; see ``FalseMatchEstimate/leastKept``.
    public var window: Window?

    /// Those that are told of.
    public static let shares = [0.01, 0.05]

    public init(share: Double, threshold: Threshold? = nil, window: Window? = nil) {
        self.share = share
        self.threshold = threshold
        self.window = window
    }
}
