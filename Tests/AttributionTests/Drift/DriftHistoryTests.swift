import Attribution
import Simulation
import Testing

@Suite("The history of match rates")
struct DriftHistoryTests {
    private let end = DriftDetectorTests.end
    private let hour: Int64 = 3_600_000

    @Test("counts whole days back from its end, and omits counts that are later or too old")
    func days() throws {
        var history = DriftHistory(end: end)
        let group = DriftDetectorTests.ios
        for hours in [-6, 0, 6, 24, 30, 63 * 24, 63 * 24 + 6] as [Int64] {
            history.add(DriftCount(trials: 1), of: group, in: end.advanced(byMilliseconds: -hours * hour))
        }
        let days = try #require(history.days[group]).map(\.trials)
        #expect(days.count == DriftHistory.retainedDays)
        #expect(days.prefix(3) == [2, 1, 0])
        #expect(days.last == 1)
        #expect(days.reduce(0, +) == 4)
    }

    @Test("ends at the end of a quarter of a day, before 1970 too")
    func ends() {
        func end(_ milliseconds: Int64) -> Int64 {
            DriftHistory.end(at: Timestamp(milliseconds: milliseconds)).milliseconds
        }
        #expect(end(0) == 0)
        #expect(end(6 * hour - 1) == 0)
        #expect(end(6 * hour) == 6 * hour)
        #expect(end(-1) == -6 * hour)
        #expect(DriftHistory.start(before: self.end) == self.end.advanced(byMilliseconds: -63 * 24 * hour))
    }

    @Test("merges groups with few matches into larger groups, and watches these")
    func pools() {
        let sizes: [(DriftGroup, Int64)] = [
            (group("26.1", "1.8.9"), 300), (group("26.1", "1.8.8"), 2), (group("26.1", "1.8.7"), 3),
            (group("18.1", "1.8.9"), 2), (group("17.1", "1.8.9"), 3),
            (DriftGroup(.launch, platform: .unknown, osVersion: .unknown, client: .unknown), 1),
        ]
        var history = DriftHistory(end: end)
        for (group, matches) in sizes {
            history.set(DriftDetectorTests.days([(40, matches * 2, matches)]), of: group)
        }
        let readings = DriftDetector.evaluate(history, alarms: []).readings.filter { !$0.group.isWhole }
        #expect(readings.map(\.group.name) == ["*/*/*", "ios/*/*", "ios/26.1/*", "ios/26.1/1.8.9"])
        let total = readings.reduce(0) { $0 + $1.recent.matches }
        #expect(total == 7 * sizes.reduce(0) { $0 + $1.1 })
    }

    @Test("watches the largest groups one by one, up to a limit")
    func bounded() {
        var history = DriftHistory(end: end)
        for number in 0..<300 {
            let matches = Int64(10 + number)
            history.set(
                DriftDetectorTests.days([(40, matches * 2, matches)]),
                of: group("\(number / 20 + 1).\(number % 20)", "1.8.9")
            )
        }
        let names = DriftDetector.evaluate(history, alarms: []).readings.map(\.group.name)
        #expect(names.count <= 44)
        #expect(names.contains("ios/15.19/1.8.9"))
        #expect(names.contains("ios/*/*") || names.contains("*/*/*"))
    }

    private func group(_ version: String, _ sdk: String) -> DriftGroup {
        DriftGroup(.launch, platform: .value("ios"), osVersion: .value(version), client: .value(sdk))
    }
}
