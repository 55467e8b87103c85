/// Plays recorded events as they are answered now and as they would be, and compares launch by launch.
public struct Backtest: Sendable {
    /// Launches that are answered differently, and how many of the answers are right where the truth is known.
    public struct Changes: Equatable, Sendable {
        /// Launches that are given a match they were not given before.
        public var gained = 0
        public var gainedRight = 0
        /// Launches that are no longer given one.
        public var lost = 0
        public var lostRight = 0
        /// Launches that are given another link or campaign.
        public var redirected = 0
        public var redirectedRight = 0
        /// Launches that are given the same.
        public var same = 0
        /// Of these, those that are given the same link by another click.
        public var otherClick = 0
        /// Launches that are an earlier answer's repetition in one of the two alone.
        public var repeatedInOne = 0
        /// Launches that were given a click which is not among those that are played.
        public var unknown = 0

        public init() {}

        /// Launches that could be compared.
        public var compared: Int { same + gained + lost + redirected + repeatedInOne }
    }

    /// As answered now.
    public private(set) var present: Replay
    /// As asked; nil where nothing is to be compared.
    public private(set) var asked: Replay?
    /// What was really answered; nil where no event tells.
    public private(set) var given: ReplayScore?
    /// From what was really answered, else from ``present``, to ``asked``.
    public private(set) var changes = Changes()
    /// From what was really answered to ``present``: how true the replay is.
    public private(set) var fidelity = Changes()
    public private(set) var clicks = 0
    public private(set) var launches = 0
    public private(set) var latest: Timestamp

    /// - Parameters:
    ///   - present: how events are answered now.
    ///   - asked: how they would be; nil to play them once.
    ///   - began: the first event's time.
    public init(_ present: ReplayPlan, asked: ReplayPlan? = nil, began: Timestamp) {
        self.present = Replay(present, began: began)
        self.asked = asked.map { Replay($0, began: began) }
        latest = began
    }

    /// Plays the next event; they come in the order of time.
    public mutating func play(_ event: RecordedEvent) {
        latest = max(latest, event.at)
        guard case .launch(let launch) = event else {
            clicks += 1
            present.play(event)
            asked?.play(event)
            return
        }
        launches += 1
        // Looked at before: afterwards its click may be gone.
        let given = launch.answer.map { ($0, present.answer($0, to: launch)) }
        let before = present.play(event)
        let after = asked?.play(event)
        guard present.judges(launch.at) else { return }
        guard let (recorded, answer) = given else {
            if asked != nil { changes.compare(before, after, areAllCounted: false) }
            return
        }
        self.given = self.given ?? ReplayScore()
        self.given?.count(recorded)
        guard recorded.outcome == .replay || answer != nil else {
            fidelity.unknown += 1
            if asked != nil { changes.unknown += 1 }
            return
        }
        let really = recorded.outcome == .replay ? nil : answer
        fidelity.compare(really, before, areAllCounted: true)
        if asked != nil { changes.compare(really, after, areAllCounted: true) }
    }
}

extension Backtest.Changes {
    /// A launch may be a repeated answer in one of the two and not in the other: nil stands for that, and, where not all
    /// of them are counted, for launches that the truth calls retries.
    fileprivate mutating func compare(
        _ before: Replay.Answer?,
        _ after: Replay.Answer?,
        areAllCounted: Bool
    ) {
        guard let before, let after else {
            guard areAllCounted else { return }
            if before == nil, after == nil { same += 1 } else { repeatedInOne += 1 }
            return
        }
        switch (before.destination, after.destination) {
        case (nil, .some):
            gained += 1
            if after.isRight == true { gainedRight += 1 }
        case (.some, nil):
            lost += 1
            if before.isRight == true { lostRight += 1 }
        case (let one?, let other?) where one != other:
            redirected += 1
            if after.isRight == true { redirectedRight += 1 }
        default:
            same += 1
            if before.click != after.click { otherClick += 1 }
        }
    }
}
