/// How events are answered when they are played again.
public struct ReplayPlan: Equatable, Sendable {
    public var policy: MatchPolicy
    /// The window of every click, whatever its own was; nil leaves them as they were.
    public var window: AttributionWindow?
    /// The window of clicks that have none of their own.
    public var standardWindow: AttributionWindow
    /// How long a caller without install id gets an answer again, in milliseconds.
    public var replayGrace: Int64
    /// Launches of the first days teach and are not counted.
    public var warmUpDays: Int
    /// How old the model may be, in milliseconds of the events' time.
    public var refresh: Int64

    public init(
        policy: MatchPolicy = MatchPolicy(),
        window: AttributionWindow? = nil,
        standardWindow: AttributionWindow = .standard,
        replayGrace: Int64 = 60_000,
        warmUpDays: Int = 1,
        refresh: Int64 = 30_000
    ) {
        self.policy = policy
        self.window = window
        self.standardWindow = standardWindow
        self.replayGrace = replayGrace
        self.warmUpDays = warmUpDays
        self.refresh = refresh
    }

    func end(of click: RecordedClick) -> Timestamp {
        (window ?? click.window ?? standardWindow).end(ofClickAt: click.at)
    }
}
