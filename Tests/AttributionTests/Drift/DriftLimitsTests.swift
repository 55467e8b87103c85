import Attribution
import Testing

/// Tests drops that raise no alarm, and events that must not mask a drop.
@Suite("The limits of the alarm on match rates")
struct DriftLimitsTests {
    private typealias Runs = [(days: Int, trials: Int64, matches: Int64)]
    private static let ios = DriftDetectorTests.ios
    private static let android = DriftDetectorTests.android

    private func alarms(
        _ groups: [DriftGroup: Runs],
        after before: [DriftAlarm] = [],
        days: Int64 = 0
    ) -> DriftDetector.Findings {
        let end = DriftDetectorTests.end.advanced(byMilliseconds: days * 86_400_000)
        let history = DriftDetectorTests.history(groups.mapValues(DriftDetectorTests.days), end: end)
        return DriftDetector.evaluate(history, alarms: before)
    }

    private static let steady: Runs = [(40, 9000, 6000)]

    /// Drops, each with the runs of the group on iOS, the runs of the group on Android, and the groups with an alarm.
    private static let drops: [(rule: String, ios: Runs, android: Runs, alarms: [DriftGroup])] = [
        ("by less than a fifth, however significant", [(3, 5000, 2850), (37, 5000, 3500)], steady, []),
        ("by more than a fifth", [(3, 5000, 2750), (37, 5000, 3500)], steady, [ios]),
        ("that costs less than ten matches", [(2, 5, 0), (38, 5, 5)], steady, []),
        ("that costs more than ten matches", [(3, 5, 0), (38, 5, 5)], steady, [ios]),
        (
            "after a day without service", [(2, 100, 40), (8, 100, 70), (1, 100, 0), (29, 100, 70)], steady,
            [ios]
        ),
        (
            "of the whole app for a day", [(1, 500, 200), (38, 500, 350)], [(1, 500, 200), (38, 500, 350)], []
        ),
        (
            "of the whole app for two days", [(2, 500, 200), (38, 500, 350)],
            [(2, 500, 200), (38, 500, 350)],
            [.whole(.launch)]
        ),
        (
            "of a group that lowers the whole app's rate", [(3, 500, 100), (37, 500, 350)], [(40, 500, 350)],
            [ios]
        ),
    ]

    @Test("a drop raises an alarm only above the limits, and for the right group", arguments: drops.indices)
    func raised(index: Int) {
        let drop = Self.drops[index]
        let found = alarms([Self.ios: drop.ios, Self.android: drop.android])
        #expect(found.alarms.map(\.group) == drop.alarms, "a drop \(drop.rule)")
    }

    @Test("a group that falls little more than the rest of the app raises no alarm of its own")
    func uneven() {
        func groups(_ matches: Int64) -> [DriftGroup] {
            alarms([
                Self.ios: [(2, 400, matches), (38, 400, 280)],
                Self.android: [(2, 9000, 3600), (38, 9000, 6300)],
            ]).alarms.map(\.group)
        }
        #expect(!groups(112).contains(Self.ios))
        #expect(groups(20).contains(Self.ios))
    }

    @Test("changes that clicks explain do not mask a drop that clicks do not explain")
    func explained() {
        func runs(_ scale: Int64, _ recent: Int64) -> [DriftCount] {
            (0..<40).map { day in
                let matches = day < 2 ? recent : day.isMultiple(of: 2) ? 70 : 35
                return DriftCount(trials: 100 * scale, matches: matches * scale)
            }
        }
        func clicks(_ scale: Int64) -> [DriftCount] {
            (0..<40).map { day in
                let isMuch = day < 2 || day.isMultiple(of: 2)
                return DriftCount(trials: (isMuch ? 700 : 350) * scale, matches: (isMuch ? 70 : 35) * scale)
            }
        }
        let onIOS = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .safari)
        let onAndroid = DriftGroup(clickOn: .android, osVersion: "15.0", browser: .chrome)
        let history = DriftDetectorTests.history([
            Self.ios: runs(1, 20), Self.android: runs(9, 70), onIOS: clicks(1), onAndroid: clicks(9),
        ])
        #expect(DriftDetector.evaluate(history, alarms: []).alarms.map(\.group).contains(Self.ios))
    }

    @Test("a drop raises no alarm if clicks may explain it, but are too few to decide")
    func uncertainClicks() {
        let onIOS = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .safari)
        func groups(_ scale: Int64) -> [DriftGroup] {
            var clicks = DriftDetectorTests.days([(40, 2 * scale, scale)])
            clicks[0].trials = scale
            let history = DriftDetectorTests.history([
                Self.ios: DriftDetectorTests.days([(2, 100, 26), (38, 100, 70)]),
                Self.android: DriftDetectorTests.days(Self.steady), onIOS: clicks,
            ])
            return DriftDetector.evaluate(history, alarms: []).alarms.map(\.group)
        }
        #expect(groups(1) == [])
        #expect(groups(1000) == [Self.ios])
    }

    @Test("an alarm ends when the rate is near the usual rate")
    func nearly() {
        let fallen = alarms([Self.ios: [(2, 100, 40), (38, 100, 70)], Self.android: Self.steady]).alarms
        func events(_ matches: Int64) -> [DriftEvent] {
            alarms(
                [Self.ios: [(2, 100, matches), (2, 100, 40), (36, 100, 70)], Self.android: Self.steady],
                after: fallen,
                days: 2
            ).events
        }
        #expect(events(66) == fallen.map { .ended($0, .recovered) })
        #expect(events(58) == [])
    }

    @Test("a group without checks for some days keeps its alarm")
    func away() {
        let fallen = alarms([Self.ios: [(2, 100, 40), (38, 100, 70)], Self.android: Self.steady]).alarms
        let found = alarms(
            [Self.ios: [(4, 0, 0), (2, 100, 40), (34, 100, 70)], Self.android: Self.steady],
            after: fallen,
            days: 4
        )
        #expect(found.alarms == fallen)
    }

    @Test("a group with an alarm is not merged with other groups, even if it has become small")
    func shrunk() {
        let alarm = DriftAlarm(
            group: Self.ios,
            since: DriftDetectorTests.end.advanced(byMilliseconds: -3 * 86_400_000),
            began: DriftDetectorTests.end,
            usualRate: 0.7,
            rate: 0.2
        )
        let found = alarms([Self.ios: [(40, 3, 1)], Self.android: Self.steady], after: [alarm])
        #expect(found.readings.contains { $0.group == Self.ios })
        #expect(!found.events.contains(.ended(alarm, .gone)))
    }

    @Test("fewer clicks on another platform explain no drop")
    func otherPlatform() {
        let onIOS = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .safari)
        let onAndroid = DriftGroup(clickOn: .android, osVersion: "15.0", browser: .chrome)
        let found = alarms([
            Self.ios: [(2, 100, 40), (38, 100, 70)], Self.android: [(40, 900, 600)],
            onIOS: [(40, 300, 70)], onAndroid: [(2, 100, 60), (38, 6000, 600)],
        ])
        #expect(found.alarms.map(\.group).contains(Self.ios))
    }
}
