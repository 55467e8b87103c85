import Attribution
import HTTPServer
import JSON
import Simulation
import Storage
import TestDatabases
import Testing

/// Plays a simulated world against the service, and then backtests the recorded traffic.
@Suite("Recorded traffic")
struct RecordedTrafficTests {
    /// Creates a service whose clock follows the events, and which learns from each event before the next.
    private func service() async throws -> TestService {
        try await TestService(configureStore: {
            $0.learnsAtOnce = true
            $0.durability = .relaxed
        })
    }

    /// Plays the events of one day, moved to the start of a day in UTC.
    ///
    /// A recorded address is hashed with the key of its day, so a backtest cannot compare clicks and launches of
    /// different days by address.
    ///
    /// Of each `untracked` clicks, the visitor of one asks not to be tracked; with 0, none does.
    private func play(_ events: [TraceEvent], _ service: TestService, untracked: Int = 0) async throws {
        var tokens: [Int: String] = [:]
        let day = AddressKeys.period
        let late = TestClock.start.milliseconds % day
        for event in events {
            let moment = event.at.advanced(byMilliseconds: -late)
            guard AddressKeys.day(of: moment) == AddressKeys.day(of: TestClock.start) else { continue }
            service.clock.now = moment
            try service.catchUp()
            switch event {
            case .click(let click):
                let isQuiet = untracked > 0 && click.number.isMultiple(of: untracked)
                let choice = isQuiet ? ["Sec-GPC": "1"] : [:]
                let answer = await service.click(
                    "{\(click.members)}",
                    fields: choice.merging(["User-Agent": click.userAgent]) { $1 },
                    peer: peer(click.address)
                )
                try #require([200, 201].contains(answer.status), "\(answer.text)")
                tokens[click.number] = answer.member("token")
            case .launch(let launch):
                let token = launch.token.flatMap { tokens[$0] }.map { "&token=\($0)" } ?? ""
                let answer = await service.check(
                    query: "fingerprint=\(Fingerprint(of: launch.fingerprintText).hex)\(token)",
                    fields: headers(launch).merging(["User-Agent": launch.agent]) { $1 },
                    peer: peer(launch.address)
                )
                try #require(answer.status == 200, "\(answer.text)")
            }
        }
        // Makes the store write its pending updates.
        await service.admin(.get, "/checks")
    }

    /// Returns the header fields with a device's signals, which newer SDKs send in addition to the hash; empty for
    /// Android, and for each second person.
    private func headers(_ launch: TracedLaunch) -> [String: String] {
        let device = launch.device
        guard device.platform == .ios, launch.person.isMultiple(of: 2) else { return [:] }
        let text =
            #"{"model":"\#(device.model)","screenWidth":"\#(device.width * device.scale)","tz":"\#(device.zone)","#
            + #""lang":"\#(device.language)"}"#
        return ["X-Device-Signals": text, "X-Device-Platform": "ios"]
    }

    private func peer(_ address: UInt32?) -> PeerAddress {
        PeerAddress(ipv4: address ?? 0x7F00_0001, port: 4711)
    }

    private func played(_ history: inout any TrafficHistory, proposed: ReplayPlan? = nil) throws -> Backtest {
        let began = try #require(history.span).first
        var backtest = Backtest(ReplayPlan(warmUpDays: 0), proposed: proposed, began: began)
        while let event = try history.next() { backtest.play(event) }
        return backtest
    }

    @Test("a backtest with the settings of the recorded traffic gives the same results, launch by launch")
    func isReproduced() async throws {
        var world = Worlds.turkey(1200)
        world.days = 1
        world.tokens = 0.15
        let service = try await service()
        try await play(TraceGenerator.events(of: world, seed: 3), service, untracked: 4)
        var history = try service.history()
        #expect(history.isWhole)
        var asked = ReplayPlan(warmUpDays: 0)
        asked.window = AttributionWindow(seconds: 600)
        let backtest = try played(&history, proposed: asked)
        let found = backtest.fidelity
        #expect(found.compared > 300)
        #expect(found.same == found.compared, "\(found)")
        #expect(found.otherClick == 0)
        #expect(found.unknown == 0)
        let (recorded, current) = (try #require(backtest.recorded), backtest.current.score)
        #expect(recorded.matches == current.matches)
        #expect(recorded.replays == current.replays && recorded.replays > 0)
        #expect(abs(recorded.expectedConversions - current.expectedConversions) < 1e-6)
        #expect(abs(recorded.spread - current.spread) < 1e-6)
        #expect(abs(recorded.expectedRight - current.expectedRight) < 1e-6)
        #expect(current.tokenMatches > 10)
        #expect(current.besideTokens.launches == current.tokenMatches)
        #expect(backtest.changes.lost > 20, "a window of ten minutes loses the launches that came later")
        #expect(backtest.changes.lost > backtest.changes.gained)
        var gaps = HistoryGaps()
        (gaps.clicks, gaps.launches) = (backtest.clicks, backtest.launches)
        (gaps.clicksWithoutAddress, gaps.launchesWithoutAddress) = (
            history.gaps.clicksWithoutAddress, history.gaps.launchesWithoutAddress
        )
        (gaps.claims, gaps.matches) = (recorded.matches, recorded.matches)
        gaps.minimums = [0.7: backtest.launches]
        #expect(history.gaps == gaps, "nothing is unknown")
        #expect(try service.count(.checksWithSignals) > 20)
        #expect(try service.count(.entriesWithSignals) > 50)
    }

    @Test("a backtest counts the values that older records lack")
    func olderRecords() async throws {
        var world = Worlds.turkey(300)
        world.days = 1
        let service = try await service()
        try await play(TraceGenerator.events(of: world, seed: 4), service)
        try service.change(.age)
        let otherKey = try #require(ServerKey(bytes: Array(repeating: 9, count: ServerKey.byteCount)))
        var history = try service.history(keys: [otherKey])
        let backtest = try played(&history)
        let gaps = history.gaps
        #expect(gaps.clicksWithoutVisitor == backtest.clicks)
        #expect(gaps.clicksNotReconstructed == backtest.clicks)
        #expect(gaps.launchesWithoutCaller == backtest.launches)
        #expect(gaps.launchesWithoutAddress > backtest.launches / 3)
        #expect(gaps.probabilitiesNotKnown > 0)
        #expect(gaps.matchesNotRecorded + gaps.clicksConsumedBefore == 3)
    }
}
