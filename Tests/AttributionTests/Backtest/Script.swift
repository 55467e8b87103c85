import Attribution
import Storage

/// A short notation for recorded events; times are milliseconds since ``noon``, windows are seconds.
struct Script {
    static let noon = Timestamp(milliseconds: 1_790_000_000_000)
    static let hour: Int64 = 3_600_000

    var events: [RecordedEvent] = []

    mutating func click(
        _ name: UInt64,
        at: Int64,
        key: UInt64 = 1,
        link: UInt64 = 1,
        campaign: UInt64 = 9,
        visitor: UInt64? = nil,
        address: AddressHashes? = nil,
        window: Int64? = nil,
        signals: SignalHashes = .none,
        form: FingerprintForm = .d,
        isRobot: Bool = false
    ) {
        var click = RecordedClick(
            name: name,
            at: Self.noon.advanced(byMilliseconds: at),
            platform: .ios,
            fingerprints: key == 0 ? [] : [RecordedFingerprint(key: key, form: form)],
            visitor: visitor ?? 1000 + name,
            destination: CreditedDestination(url: link, campaign: campaign)
        )
        click.address = address
        click.window = window.flatMap { AttributionWindow(seconds: $0) }
        click.signals = signals
        click.isRobot = isRobot
        events.append(.click(click))
    }

    mutating func launch(
        at: Int64,
        keys: [UInt64] = [1],
        caller: UInt64? = nil,
        hasInstallID: Bool = false,
        address: AddressHashes? = nil,
        signals: SignalHashes = .none,
        token: UInt64? = nil,
        truth: RecordedLaunch.Truth? = nil,
        answer: RecordedAnswer? = nil
    ) {
        var launch = RecordedLaunch(
            at: Self.noon.advanced(byMilliseconds: at),
            fingerprints: keys,
            caller: caller ?? UInt64(bitPattern: at)
        )
        launch.address = address
        launch.hasInstallID = hasInstallID
        launch.signals = signals
        launch.token = token
        launch.truth = truth
        launch.answer = answer
        events.append(.launch(launch))
    }

    /// Returns the score, and the answer to each launch: nil for a launch that the score does not count.
    ///
    /// In an hour, the model learns too little to decide differently from the newest-click rule.
    func played(_ plan: ReplayPlan = ReplayPlan(warmUpDays: 0)) -> (
        answers: [Replay.Answer?], score: ReplayScore
    ) {
        var replay = Replay(plan, began: Self.noon)
        var answers: [Replay.Answer?] = []
        for event in events {
            let answer = replay.play(event)
            if case .launch = event { answers.append(answer) }
        }
        return (answers, replay.score)
    }

    /// Returns the link that each launch gets; nil for none.
    func links(_ plan: ReplayPlan = ReplayPlan(warmUpDays: 0)) -> [UInt64?] {
        played(plan).answers.map { $0?.destination?.url }
    }
}
