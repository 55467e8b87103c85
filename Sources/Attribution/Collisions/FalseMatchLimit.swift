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
