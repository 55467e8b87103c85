import Attribution
import Simulation
import Testing

@Suite("The alarm on match rates")
struct DriftDetectorTests {
    static let end = Timestamp(milliseconds: 1_767_225_600_000)
    static let ios = launches(.ios, 26, 1)
    static let android = launches(.android, 15, 0)

    static func launches(_ platform: Platform, _ major: Int, _ minor: Int) -> DriftGroup {
        DriftGroup(
            launchOn: platform,
            release: OSRelease(OSVersion(major: major, minor: minor), on: platform),
            sdk: SDKVersion(header: "sdk/1.8.9")
        )
    }

    /// Returns the counts of days, the newest first; a run is a number of consecutive days with the same counts.
    static func days(_ runs: [(days: Int, trials: Int64, matches: Int64)]) -> [DriftCount] {
        runs.flatMap { run in
            Array(repeating: DriftCount(trials: run.trials, matches: run.matches), count: run.days)
        }
    }

    static func history(_ groups: [DriftGroup: [DriftCount]], end: Timestamp = end) -> DriftHistory {
        var history = DriftHistory(end: end)
        for (group, days) in groups { history.set(days, of: group) }
        return history
    }

    private static let steadyRest = days([(40, 900, 600)])

    @Test("reports a group that fell from 70 % to 40 %, with the start and the usual rate")
    func reports() throws {
        let history = Self.history([
            Self.ios: Self.days([(2, 100, 40), (38, 100, 70)]), Self.android: Self.steadyRest,
        ])
        let findings = DriftDetector.evaluate(history, alarms: [])
        let alarm = try #require(findings.alarms.first)
        #expect(findings.events == [.began(alarm)])
        #expect(findings.alarms.count == 1)
        #expect(alarm.group == Self.ios)
        #expect(alarm.since == Self.end.advanced(byMilliseconds: -2 * 86_400_000))
        #expect(alarm.began == Self.end)
        #expect(abs(alarm.usualRate - 0.7) < 0.01)
        #expect(abs(alarm.rate - 0.4) < 0.01)
        let reading = try #require(findings.readings.first { $0.group == Self.ios })
        #expect(reading.status == .falling)
        #expect(reading.recent == DriftCount(trials: 700, matches: 430))
        #expect(findings.readings.first { $0.group == Self.android }?.status == .steady)
    }

    @Test("reports a drop once, and its end when the rate has recovered")
    func recovers() throws {
        let fallen = Self.history([
            Self.ios: Self.days([(2, 100, 40), (38, 100, 70)]), Self.android: Self.steadyRest,
        ])
        let alarms = DriftDetector.evaluate(fallen, alarms: []).alarms
        let later = Self.end.advanced(byMilliseconds: 3 * 86_400_000)
        func evaluate(_ runs: [(days: Int, trials: Int64, matches: Int64)]) -> DriftDetector.Findings {
            let groups = [Self.ios: Self.days(runs), Self.android: Self.steadyRest]
            return DriftDetector.evaluate(Self.history(groups, end: later), alarms: alarms)
        }
        let still = evaluate([(5, 100, 40), (35, 100, 70)])
        #expect(still.alarms == alarms)
        #expect(still.events.isEmpty)
        let half = evaluate([(1, 100, 70), (4, 100, 40), (35, 100, 70)])
        #expect(half.alarms == alarms)
        let whole = evaluate([(2, 100, 70), (3, 100, 40), (35, 100, 70)])
        #expect(whole.alarms.isEmpty)
        #expect(whole.events == alarms.map { .ended($0, .recovered) })
        #expect(whole.readings.allSatisfy { $0.status == .steady })
    }

    @Test("ends an alarm when the drop has lasted for 35 days, although the rate is still low")
    func lasting() throws {
        var alarms: [DriftAlarm] = []
        var events: [DriftEvent] = []
        for day in 1...60 {
            let end = Self.end.advanced(byMilliseconds: Int64(day) * 86_400_000)
            let falling = Self.days([(day, 100, 40), (40, 100, 70)])
            let groups = [Self.ios: falling, Self.android: Self.days([(60, 900, 600)])]
            let findings = DriftDetector.evaluate(Self.history(groups, end: end), alarms: alarms)
            alarms = findings.alarms
            events += findings.events
        }
        #expect(events.count == 2)
        guard case .began(let alarm)? = events.first else { return #expect(Bool(false), "no alarm") }
        #expect(events.last == .ended(alarm, .lasting))
    }

    @Test("ends an alarm when the group has no checks any more")
    func gone() throws {
        let fallen = Self.history([
            Self.ios: Self.days([(2, 100, 40), (38, 100, 70)]), Self.android: Self.steadyRest,
        ])
        let alarms = DriftDetector.evaluate(fallen, alarms: []).alarms
        let later = Self.end.advanced(byMilliseconds: 8 * 86_400_000)
        let empty = Self.history(
            [Self.ios: Self.days([(8, 0, 0), (2, 100, 40), (30, 100, 70)]), Self.android: Self.steadyRest],
            end: later
        )
        #expect(DriftDetector.evaluate(empty, alarms: alarms).events == alarms.map { .ended($0, .gone) })
        let nothing = Self.history([Self.android: Self.steadyRest], end: later)
        #expect(DriftDetector.evaluate(nothing, alarms: alarms).events == alarms.map { .ended($0, .gone) })
    }

    @Test("learns for a week before it reports a drop")
    func learns() throws {
        for days in [2, 4, 7] {
            let history = Self.history([
                Self.ios: Self.days([(2, 100, 10), (days, 100, 70)]),
                Self.android: Self.days([(days + 2, 900, 600)]),
            ])
            let findings = DriftDetector.evaluate(history, alarms: [])
            #expect(findings.alarms.isEmpty == (days < 7), "\(days)")
            let status = findings.readings.first { $0.group == Self.ios }?.status
            #expect(status == (days < 7 ? .learning : .falling), "\(days)")
        }
    }

    @Test("reports no steady group when the rate of the rest of the app rises")
    func otherGroupsRise() {
        let history = Self.history([
            Self.ios: Self.days([(40, 100, 60)]), Self.android: Self.days([(3, 900, 860), (37, 900, 500)]),
        ])
        #expect(DriftDetector.evaluate(history, alarms: []).alarms.isEmpty)
    }

    @Test("reports a drop of all groups once, for the whole app")
    func wholeFalls() {
        let history = Self.history([
            Self.ios: Self.days([(3, 100, 40), (37, 100, 70)]),
            Self.android: Self.days([(3, 900, 360), (37, 900, 630)]),
        ])
        #expect(DriftDetector.evaluate(history, alarms: []).alarms.map(\.group) == [.whole(.launch)])
    }

    @Test("reports nothing when clicks drop like matches, because marketing has stopped")
    func fewerClicks() {
        let safari = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .safari)
        func alarms(clicks: Int64) -> [DriftGroup] {
            let history = Self.history([
                Self.ios: Self.days([(3, 500, 140), (37, 500, 350)]),
                safari: Self.days([(3, clicks, 140), (37, 3500, 350)]),
            ])
            return DriftDetector.evaluate(history, alarms: []).alarms.map(\.group)
        }
        #expect(alarms(clicks: 1400).isEmpty)
        #expect(alarms(clicks: 3500).contains(.whole(.launch)))
    }

    @Test("reports a browser whose clicks lead to fewer matches, but not a browser that only has more clicks")
    func browsers() {
        let safari = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .safari)
        let instagram = DriftGroup(clickOn: .ios, osVersion: "26.1", browser: .instagram)
        func alarms(clicks: Int64, matches: Int64) -> [DriftGroup] {
            let history = Self.history([
                instagram: Self.days([(3, clicks, matches), (37, 600, 90)]),
                safari: Self.days([(40, 3000, 400)]),
            ])
            return DriftDetector.evaluate(history, alarms: []).alarms.map(\.group)
        }
        #expect(alarms(clicks: 600, matches: 30) == [instagram])
        #expect(alarms(clicks: 3000, matches: 90) == [])
    }

    @Test("raises no alarm for a weekly pattern")
    func weekly() {
        var days: [DriftCount] = []
        for day in 0..<40 {
            days.append(DriftCount(trials: 400, matches: [2, 3].contains(day % 7) ? 180 : 280))
        }
        for shift in 0..<7 {
            let history = Self.history([
                Self.ios: Array(days.dropFirst(shift)), Self.android: Self.days([(40, 900, 600)]),
            ])
            #expect(DriftDetector.evaluate(history, alarms: []).alarms.isEmpty, "\(shift)")
        }
    }

    @Test("survives empty history, more matches than checks, and a clock that was set back")
    func oddities() throws {
        #expect(DriftDetector.evaluate(DriftHistory(end: Self.end), alarms: []).readings.isEmpty)
        let strange = Self.history([
            Self.ios: Self.days([(40, 10, 90)]), Self.android: Self.days([(40, 0, 50)]),
            DriftGroup.whole(.launch): Self.days([(40, -5, -9)]),
        ])
        let alarm = DriftAlarm(
            group: Self.ios,
            since: Timestamp(milliseconds: .max),
            began: Timestamp(milliseconds: .max),
            usualRate: 0.7,
            rate: 0.4
        )
        let findings = DriftDetector.evaluate(strange, alarms: [alarm, alarm])
        #expect(findings.alarms == [alarm])
        #expect(findings.readings.allSatisfy { (0...1).contains($0.usualRate ?? 0) })
    }
}
