import Attribution
import Testing

/// What the watch lets pass, and what does not make it blind.
@Suite("The limits of the watch on match rates")
struct DriftLimitsTests {
    private static let ios = DriftDetectorTests.ios
    private static let android = DriftDetectorTests.android

    private func alarms(
        _ groups: [DriftGroup: [(days: Int, trials: Int64, matches: Int64)]],
        after before: [DriftAlarm] = [],
        days: Int64 = 0
    ) -> DriftDetector.Findings {
        let end = DriftDetectorTests.end.advanced(byMilliseconds: days * 86_400_000)
        let history = DriftDetectorTests.history(groups.mapValues(DriftDetectorTests.days), end: end)
        return DriftDetector.evaluate(history, alarms: before)
    }

    private static let steady: [(days: Int, trials: Int64, matches: Int64)] = [(40, 9000, 6000)]

    @Test("a fall by less than a fifth is nobody's worry, however sure it is")
    func small() {
        func told(_ matches: Int64) -> [DriftGroup] {
            alarms([Self.ios: [(3, 5000, matches), (37, 5000, 3500)], Self.android: Self.steady])
                .alarms.map(\.group)
        }
        #expect(told(2850) == [])
        #expect(told(2750) == [Self.ios])
    }

    @Test("nor is one that has cost fewer than ten matches")
    func few() {
        func told(_ days: Int) -> [DriftGroup] {
            alarms([Self.ios: [(days, 5, 0), (38, 5, 5)], Self.android: Self.steady]).alarms.map(\.group)
        }
        #expect(told(2) == [])
        #expect(told(3) == [Self.ios])
    }

    @Test("a day without service does not make a month blind")
    func outage() {
        let runs: [(days: Int, trials: Int64, matches: Int64)] = [
            (2, 100, 40), (8, 100, 70), (1, 100, 0), (29, 100, 70),
        ]
        #expect(alarms([Self.ios: runs, Self.android: Self.steady]).alarms.map(\.group) == [Self.ios])
    }

    @Test("where the rest of the app falls, a part that falls somewhat more is no alarm of its own")
    func uneven() {
        func told(_ matches: Int64) -> [DriftGroup] {
            alarms([
                Self.ios: [(2, 400, matches), (38, 400, 280)],
                Self.android: [(2, 9000, 3600), (38, 9000, 6300)],
            ]).alarms.map(\.group)
        }
        #expect(!told(112).contains(Self.ios))
        #expect(told(20).contains(Self.ios))
    }

    @Test("ups and downs that clicks explain do not hide a fall that they do not")
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

    @Test("a fall that so few clicks leave open whether they explain it is no alarm")
    func uncertainClicks() {
        let onIOS = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .safari)
        func told(_ scale: Int64) -> [DriftGroup] {
            var clicks = DriftDetectorTests.days([(40, 2 * scale, scale)])
            clicks[0].trials = scale
            let history = DriftDetectorTests.history([
                Self.ios: DriftDetectorTests.days([(2, 100, 26), (38, 100, 70)]),
                Self.android: DriftDetectorTests.days(Self.steady), onIOS: clicks,
            ])
            return DriftDetector.evaluate(history, alarms: []).alarms.map(\.group)
        }
        #expect(told(1) == [])
        #expect(told(1000) == [Self.ios])
    }

    @Test("a fall of the whole app is told when it has lasted two days")
    func wholeLasts() {
        func told(_ days: Int) -> [DriftGroup] {
            alarms([
                Self.ios: [(days, 500, 200), (38, 500, 350)],
                Self.android: [(days, 500, 200), (38, 500, 350)],
            ]).alarms.map(\.group)
        }
        #expect(told(1) == [])
        #expect(told(2) == [.whole(.launch)])
    }

    @Test("where a group takes the whole app down with it, the group alone is told")
    func groupAlone() {
        let found = alarms([Self.ios: [(3, 500, 100), (37, 500, 350)], Self.android: [(40, 500, 350)]])
        #expect(found.alarms.map(\.group) == [Self.ios])
    }

    @Test("an alarm is over when the rate is near the usual one, and needs not reach it")
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

    @Test("a group that stays away for some days is not gone")
    func away() {
        let fallen = alarms([Self.ios: [(2, 100, 40), (38, 100, 70)], Self.android: Self.steady]).alarms
        let found = alarms(
            [Self.ios: [(4, 0, 0), (2, 100, 40), (34, 100, 70)], Self.android: Self.steady],
            after: fallen,
            days: 4
        )
        #expect(found.alarms == fallen)
    }

    @Test("a group with an alarm is told of by itself, however small it has become")
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

    @Test("that another platform's clicks stop explains no fall")
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
