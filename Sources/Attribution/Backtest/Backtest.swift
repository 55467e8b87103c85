/// Plays recorded events twice, as they are answered now and as they would be, and compares launch by launch.
public struct Backtest: Sendable {
    /// Launches that the two answer differently, and how many of the answers are right where the truth is known.
    public struct Changes: Equatable, Sendable {
        /// Launches that are given a match they are not given now.
        public var gained = 0
        public var gainedRight = 0
        /// Launches that are no longer given one.
        public var lost = 0
        public var lostRight = 0
        /// Launches that are given another link or campaign.
        public var redirected = 0
        public var redirectedRight = 0

        public init(
            gained: Int = 0,
            gainedRight: Int = 0,
            lost: Int = 0,
            lostRight: Int = 0,
            redirected: Int = 0,
            redirectedRight: Int = 0
        ) {
            self.gained = gained
            self.gainedRight = gainedRight
            self.lost = lost
            self.lostRight = lostRight
            self.redirected = redirected
            self.redirectedRight = redirectedRight
        }
    }

    /// As answered now.
    public private(set) var present: Replay
    /// As asked; nil where nothing is to be compared.
    public private(set) var asked: Replay?
    public private(set) var changes = Changes()
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
        latest = event.at
        switch event {
        case .click: clicks += 1
        case .launch: launches += 1
        }
        let before = present.play(event)
        let after = asked?.play(event)
        guard asked != nil, case .launch = event else { return }
        compare(before, after)
    }

    /// A launch may be a repeated answer in one of the two and not in the other: then there is nothing to compare.
    private mutating func compare(_ before: Replay.Answer?, _ after: Replay.Answer?) {
        guard let before, let after else { return }
        switch (before.destination, after.destination) {
        case (nil, .some):
            changes.gained += 1
            if after.isRight == true { changes.gainedRight += 1 }
        case (.some, nil):
            changes.lost += 1
            if before.isRight == true { changes.lostRight += 1 }
        case (let one?, let other?) where one != other:
            changes.redirected += 1
            if after.isRight == true { changes.redirectedRight += 1 }
        default: break
        }
    }
}
