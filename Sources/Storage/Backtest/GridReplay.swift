internal import Attribution

/// Replays the same events under one setting after the other, and compares each with the app's current setting.
///
/// One replay at a time is in memory.
struct GridReplay: Sendable {
    private let events: [RecordedEvent]
    private let policy: MatchPolicy
    private let ownWindow: AttributionWindow
    private let replayGrace: Int64
    private let judgedFrom: Timestamp
    /// The settings that are not replayed yet, taken from the end; the app's current one is the last element, so it
    /// runs first.
    private var waiting: [PolicyGrid.Setting]
    private var replay: Replay?
    private var position = 0
    private var changes = Backtest.Changes()
    /// The answers to all launches under the current setting; nil for a launch without a counted answer.
    private var answers: [Replay.Answer?] = []
    private var launch = 0
    var grid: PolicyGrid

    /// The windows that are compared, in seconds.
    private static let windows: [Int64] = [3600, 21_600, 86_400, 259_200, 604_800]
    private static let minimums = [0.5, 0.6, 0.7, 0.8, 0.9]
    /// The number of events between two readings of the clock.
    private static let stride = 16

    /// - Parameters:
    ///   - events: the clicks and launches in the order of time; at least one.
    ///   - app: the settings of their app.
    ///   - standardWindow: the window of apps without one.
    ///   - replayGrace: the time in which a caller without an install id gets an answer again, in milliseconds.
    ///   - isWhole: whether these are all events from which the app's model learnt. If not, the first half of the
    ///     time only trains the model, and windows longer than this half are left out, because clicks are missing.
    ///   - now: the time of the comparison.
    init?(
        _ events: [RecordedEvent],
        of app: App.Settings,
        standardWindow: AttributionWindow,
        replayGrace: Int64,
        isWhole: Bool,
        at now: Timestamp
    ) {
        guard let first = events.first?.at, let last = events.last?.at else { return nil }
        self.events = events
        policy = app.followedPolicy
        ownWindow = app.window ?? standardWindow
        self.replayGrace = replayGrace
        let half = last.milliseconds(since: first) / 2
        judgedFrom = isWhole ? first : first.advanced(byMilliseconds: half)
        let current = PolicyGrid.Setting(window: nil, minimumConfidence: policy.minimumConfidence)
        grid = PolicyGrid(computedAt: now, span: (judgedFrom, last), current: current)
        let lengths = Self.windows.filter { isWhole || $0 * 1000 <= half }
        let windows = [nil] + lengths.map { AttributionWindow(seconds: $0) }.filter { $0 != nil }
        // Under the rule of the newest click, no minimum probability applies.
        let others = policy.rule == .probability && policy.usesFingerprints ? Self.minimums : []
        let minimums = others.filter { $0 != current.minimumConfidence } + [current.minimumConfidence]
        let settings = windows.flatMap { window in
            minimums.map { PolicyGrid.Setting(window: window, minimumConfidence: $0) }
        }
        waiting = settings.filter { $0 != current } + [current]
    }

    /// Replays events until `isOver` returns true; returns false after the last setting.
    mutating func play(until isOver: () -> Bool) -> Bool {
        while let setting = waiting.last {
            // The replay is moved out of the property, because a copy is large.
            var replay = self.replay ?? Replay(plan(setting), began: events[0].at, judgedFrom: judgedFrom)
            self.replay = nil
            while position < events.count {
                if position.isMultiple(of: Self.stride), isOver() {
                    // Play this event, so that the next call does not stop before it again.
                    play(&replay, setting)
                    self.replay = replay
                    return true
                }
                play(&replay, setting)
            }
            finish(setting, replay.score)
        }
        return false
    }

    private mutating func play(_ replay: inout Replay, _ setting: PolicyGrid.Setting) {
        let event = events[position]
        position += 1
        let answer = replay.play(event)
        guard case .launch(let launch) = event else {
            if setting == grid.current { grid.clicks += 1 }
            return
        }
        if setting == grid.current {
            answers.append(answer)
        } else {
            if replay.judges(launch.at) { changes.compare(answers[self.launch], answer) }
            self.launch += 1
        }
    }

    private mutating func finish(_ setting: PolicyGrid.Setting, _ score: ReplayScore) {
        var result = PolicyGrid.Result()
        result.matches = score.matches
        (result.gained, result.lost, result.redirected) = (changes.gained, changes.lost, changes.redirected)
        result.expectedWrong = max(0, Double(score.matches - score.tokenMatches) - score.expectedRight)
        grid.results[setting] = result
        if setting == grid.current { grid.launches = score.launches }
        waiting.removeLast()
        (position, launch, changes) = (0, 0, Backtest.Changes())
    }

    /// Returns the plan for replaying a setting.
    ///
    /// The setting's window becomes the window for fingerprints. If it is longer than the app's, it also becomes the
    /// window of clicks.
    private func plan(_ setting: PolicyGrid.Setting) -> ReplayPlan {
        var plan = ReplayPlan(policy: policy, standardWindow: ownWindow, replayGrace: replayGrace)
        plan.policy.minimumConfidence = setting.minimumConfidence
        guard let window = setting.window else { return plan }
        plan.policy.windows.fingerprint = window
        if window.seconds > ownWindow.seconds { plan.window = window }
        return plan
    }
}
