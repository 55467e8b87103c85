/// Estimates how many matches are wrong, and which minimum probability or window would reduce that number.
///
/// A match of probability p is wrong with probability 1 − p. These probabilities are calibrated (see
/// ``CalibrationTable``). A mere count of equal fingerprints would ignore addresses, systems and delays, which these
/// probabilities include. The estimate uses the same amount of memory for any number of launches.
public struct FalseMatchEstimate: Equatable, Sendable {
    /// The windows that can be recommended in addition to the current one, the shortest first.
    static let windows: [AttributionWindow] = [
        600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400, 172_800, 259_200, 604_800, 1_209_600,
        2_592_000,
    ].compactMap { AttributionWindow(seconds: $0) }

    /// Sums over the launches whose probability is in one step and whose click's age is in the range of one window.
    ///
    /// `wrong` and `wrongMatches` are sums of the probability that the answer is wrong.
    private struct Cell: Equatable, Sendable {
        var launches = 0.0
        var matches = 0.0
        var wrong = 0.0
        var wrongMatches = 0.0
    }

    /// The number of steps into which probabilities from 0 to 1 are divided.
    private static let steps = 200

    /// The cells, by window, then by probability; a launch belongs to the shortest window that contains its click.
    private var cells = [Cell](repeating: Cell(), count: windows.count * steps)
    /// The square of ``spread``.
    private var variance = 0.0

    public init() {}

    /// Adds a launch to which a click may have led; ignores a probability that is NaN.
    ///
    /// - Parameters:
    ///   - probability: the probability of the answer, which may exceed ``Verdict/highestConfidence``, the largest
    ///     reported one; without a match, the probability of the most likely answer.
    ///   - ageSeconds: the age of that answer's click; nil if it is unknown.
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

    /// The number of matches that were added.
    public var matches: Int { Int(cells.reduce(0) { $0 + $1.matches }) }
    /// The number of matches that are expected to be wrong.
    public var expectedFalse: Double { cells.reduce(0) { $0 + $1.wrongMatches } }
    /// The standard deviation of the number of wrong matches.
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

    /// Returns the lowest minimum probability with which at most this share of matches is wrong, and the
    /// number of matches with that minimum; nil if no minimum keeps the share that low.
    ///
    /// Assumes the current window, and ``MatchPolicy/Rule/probability`` even if the app uses another rule.
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
    /// wrong, and the number of matches with that window.
    ///
    /// The window must also retain ``minimumKept`` of the matches that are expected to be right; nil if no window does.
    /// Assumes the current policy. Records contain nothing about windows longer than the current one.
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

    /// The share of right matches that a recommended window must retain.
    ///
    /// Losing more right matches is not worth the wrong matches that a shorter window avoids.
    public static let minimumKept = 0.5

    /// Adds a recorded check; ignores repeated answers, certain matches, and checks without a confidence.
    ///
    /// - Parameters:
    ///   - facts: the record.
    ///   - clickedAt: the time of the answer's click; without a match, the time of the most likely click.
    public mutating func add(_ facts: CheckFacts, clickedAt: Timestamp?) {
        guard facts.outcome != .replay, facts.method?.confidence == nil, let confidence = facts.confidence
        else { return }
        var probability = confidence
        // The reported probability is at most the highest confidence; the recorded shares may be larger.
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
        /// The lowest minimum probability that meets the limit, 0…1.
        public var minimum: Double
        /// The number of matches with this minimum.
        public var matches: Int

        public init(minimum: Double, matches: Int) {
            self.minimum = minimum
            self.matches = matches
        }
    }

    public struct Window: Equatable, Sendable {
        /// The longest window that meets the limit.
        public var window: AttributionWindow
        /// The number of matches with this window.
        public var matches: Int

        public init(window: AttributionWindow, matches: Int) {
            self.window = window
            self.matches = matches
        }
    }

    /// The limit: the largest allowed share of wrong matches among all matches, 0…1.
    public var share: Double
    /// Nil if no minimum probability meets the limit.
    public var threshold: Threshold?
    /// Nil if no window meets the limit and retains ``FalseMatchEstimate/minimumKept`` of the right matches.
    public var window: Window?

    /// The limits that reports contain.
    public static let shares = [0.01, 0.05]

    public init(share: Double, threshold: Threshold? = nil, window: Window? = nil) {
        self.share = share
        self.threshold = threshold
        self.window = window
    }
}
