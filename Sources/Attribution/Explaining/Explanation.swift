/// Why a check ended as it did.
public struct Explanation: Equatable, Sendable {
    public let record: RecordedCheck
    /// What the launch's fingerprint was made of, where that was found again.
    public var launch: FingerprintInput?
    /// How many combinations of values were tried to find it again; nil where there was no need to.
    public var triedCombinations: Int?
    /// The clicks that matter to it, those nearest to a match first.
    public var clicks: [ExplainedClick]

    public init(
        record: RecordedCheck,
        launch: FingerprintInput? = nil,
        triedCombinations: Int? = nil,
        clicks: [ExplainedClick] = []
    ) {
        self.record = record
        self.launch = launch
        self.triedCombinations = triedCombinations
        self.clicks = clicks
    }
}

/// One click of an explanation.
public struct ExplainedClick: Equatable, Sendable {
    /// A component that keeps a click and a launch apart.
    public struct Difference: Equatable, Sendable {
        public let component: SignalComponent
        public let click: String
        public let launch: String

        public init(_ component: SignalComponent, click: String, launch: String) {
            self.component = component
            self.click = click
            self.launch = launch
        }
    }

    public let click: KnownClick
    public let state: KnownClick.State
    public let hasSameFingerprint: Bool
    /// How likely the launch came for its destination, 0…1; nil where that was not worked out.
    public let share: Double?
    /// Whether the screen that its page told is the launch's; nil where one of the two is not known.
    public let hasSameScreen: Bool?
    /// Empty where the fingerprint is the same, or nothing is known of one of the two.
    public let differences: [Difference]

    public init(
        _ click: KnownClick,
        _ state: KnownClick.State,
        hasSameFingerprint: Bool,
        share: Double? = nil,
        hasSameScreen: Bool? = nil,
        differences: [Difference] = []
    ) {
        self.click = click
        self.state = state
        self.hasSameFingerprint = hasSameFingerprint
        self.share = share
        self.hasSameScreen = hasSameScreen
        self.differences = differences
    }
}
