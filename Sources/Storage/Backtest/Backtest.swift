public import Attribution

/// Plays recorded events under the current and a proposed plan, and compares them launch by launch.
public struct Backtest: Sendable {
    /// The numbers of launches whose answer differs between two runs, or is the same.
    public struct Changes: Equatable, Sendable {
        /// Launches that get a match they did not get before.
        public var gained = 0
        /// Launches that no longer get a match.
        public var lost = 0
        /// Launches that get another link or campaign.
        public var redirected = 0
        /// Launches that get the same answer.
        public var same = 0
        /// The launches of ``same`` that get the same link by another click.
        public var otherClick = 0
        /// Launches that repeat an earlier answer in only one of the two runs.
        public var repeatedInOne = 0
        /// Launches whose recorded click was not played, or was dropped after its window.
        public var unknown = 0

        public init() {}

        /// The number of launches that could be compared.
        public var compared: Int { same + gained + lost + redirected + repeatedInOne }
    }

    /// The replay under the current plan.
    public private(set) var current: Replay
    /// The replay under the proposed plan; nil if there is nothing to compare.
    public private(set) var proposed: Replay?
    /// The recorded answers; nil if no event has one.
    public private(set) var recorded: ReplayScore?
    /// The changes from the recorded answers to ``proposed``.
    public private(set) var changes = Changes()
    /// The changes from the recorded answers to ``current``, which show how faithful the replay is.
    public private(set) var fidelity = Changes()
    public private(set) var clicks = 0
    public private(set) var launches = 0
    public private(set) var latest: Timestamp

    /// - Parameters:
    ///   - current: how events are answered now.
    ///   - proposed: how events would be answered; nil to play the events only once.
    ///   - began: the first event's time.
    public init(_ current: ReplayPlan, proposed: ReplayPlan? = nil, began: Timestamp) {
        self.current = Replay(current, began: began)
        self.proposed = proposed.map { Replay($0, began: began) }
        latest = began
    }

    /// Plays the next event; events come in the order of time.
    public mutating func play(_ event: RecordedEvent) {
        latest = max(latest, event.at)
        guard case .launch(let launch) = event else {
            clicks += 1
            current.play(event)
            proposed?.play(event)
            return
        }
        launches += 1
        // Read the answer before the event is played, because playing the event may drop the answer's click.
        let answer = launch.answer.flatMap { current.answer($0, to: launch) }
        let before = current.play(event)
        let after = proposed?.play(event)
        guard let recorded = launch.answer, current.judges(launch.at) else { return }
        self.recorded = self.recorded ?? ReplayScore()
        self.recorded?.count(recorded)
        guard recorded.outcome == .replay || answer != nil else {
            fidelity.unknown += 1
            if proposed != nil { changes.unknown += 1 }
            return
        }
        let original = recorded.outcome == .replay ? nil : answer
        fidelity.compare(original, before)
        if proposed != nil { changes.compare(original, after) }
    }
}

extension Backtest.Changes {
    /// Compares two answers; nil means an answer that repeats an earlier one.
    mutating func compare(_ before: Replay.Answer?, _ after: Replay.Answer?) {
        guard let before, let after else {
            if before == nil, after == nil { same += 1 } else { repeatedInOne += 1 }
            return
        }
        switch (before.destination, after.destination) {
        case (nil, .some): gained += 1
        case (.some, nil): lost += 1
        case (let one?, let other?) where one != other: redirected += 1
        default:
            same += 1
            if before.click != after.click { otherClick += 1 }
        }
    }
}
