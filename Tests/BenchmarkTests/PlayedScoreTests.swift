import Attribution
import Benchmark
import Foundation
import Simulation
import Storage
import Testing

/// Tests how responses to a simulated world are judged.
@Suite("The score of a played world")
struct PlayedScoreTests {
    private let beginning = TraceGenerator.beginning
    /// Templates for the tests' clicks and launches.
    private let events = TraceGenerator.events(of: Worlds.turkey(20), seed: 1)

    private func click(_ number: Int, hour: Double) throws -> TracedClick {
        var click = try #require(
            events.compactMap { if case .click(let click) = $0 { click } else { nil } }.first
        )
        (click.number, click.person, click.campaign, click.url) = (number, UInt64(number), number, number)
        click.at = moment(hour)
        return click
    }

    private func launch(
        _ person: UInt64,
        hour: Double,
        _ truth: TracedLaunch.Truth,
        address: UInt32 = 1
    ) throws -> TracedLaunch {
        var launch = try #require(
            events.compactMap { if case .launch(let launch) = $0 { launch } else { nil } }.first
        )
        (launch.person, launch.truth, launch.address) = (person, truth, address)
        launch.at = moment(hour)
        return launch
    }

    private func moment(_ hour: Double) -> Timestamp {
        beginning.advanced(byMilliseconds: Int64(hour * 3_600_000))
    }

    private func match(_ click: Int) throws -> PlayedAnswer {
        let answer =
            #"{"matched":true,"url":"myapp://promo/\#(click)?source=instagram","campaignKey":"CAMPAIGN\#(click)","#
            + #""confidence":0.9,"metadata":{"click":\#(click)}}"#
        return try JSONDecoder().decode(PlayedAnswer.self, from: Data(answer.utf8))
    }

    private func noMatch() throws -> PlayedAnswer {
        try JSONDecoder().decode(PlayedAnswer.self, from: Data(#"{"matched":false}"#.utf8))
    }

    private func score(_ clicks: [TracedClick], _ launches: [(TracedLaunch, PlayedAnswer)]) -> PlayedScore {
        var score = PlayedScore(beginning: beginning)
        for click in clicks { score.add(click) }
        for (launch, answer) in launches { score.add(launch, answer) }
        return score
    }

    @Test("distinguishes right matches, wrong matches, and matches of organic launches")
    func distinguishesMatches() throws {
        let sums = try score(
            (1...4).map { try click($0, hour: 30) },
            [
                (launch(1, hour: 31, .click(1)), match(1)), (launch(2, hour: 31, .click(2)), match(3)),
                (launch(3, hour: 31, .click(3)), noMatch()), (launch(7, hour: 31, .organic), match(4)),
                (launch(8, hour: 31, .organic), noMatch()), (launch(1, hour: 40, .reinstall), noMatch()),
            ]
        ).sums
        #expect(sums.precision == 1.0 / 3)
        #expect(sums.found == 1.0 / 3)
        #expect(sums.falseAttribution == 0.5)
        #expect(sums.rematched == 0)
        #expect(abs(sums.calibration.error - (0.9 - 1.0 / 3)) < 1e-9)
    }

    @Test("leaves the first day out, and does not count conversions whose click is older than a day")
    func leavesTheFirstDayOut() throws {
        let sums = try score(
            [click(1, hour: 1), click(2, hour: 1)],
            [(launch(1, hour: 2, .click(1)), match(1)), (launch(2, hour: 26, .click(2)), noMatch())]
        ).sums
        #expect(sums.launches == 1)
        #expect(sums.conversions == 0)
    }

    @Test("finds a click that matched two launches, on the first day as well")
    func findsClicksUsedTwice() throws {
        let answers = try [
            (launch(1, hour: 2, .click(1)), match(1)), (launch(2, hour: 3, .organic), match(1)),
        ]
        #expect(try score([click(1, hour: 1)], answers).clicksUsedTwice == 1)
    }

    @Test("allows a repeated match for its visitor, and within a minute for a caller that looks the same")
    func allowsRepeatedAnswers() throws {
        let first = try (launch(1, hour: 30.1, .click(1)), match(1))
        let score = try score(
            [click(1, hour: 30)],
            [
                first, (launch(1, hour: 30.105, .retry), match(1)),
                (launch(2, hour: 30.11, .organic), match(1)),
                (launch(3, hour: 30.11, .organic, address: 2), match(1)),
            ]
        )
        #expect(score.strangersRepeated == 1)
        #expect(score.clicksUsedTwice == 1)
        #expect(score.changedAnswers == 0)
        // A retry does not count as a launch.
        #expect(score.sums.launches == 3)
    }

    @Test("finds retries of a match that get another response, but allows a match after no match")
    func findsChangedAnswers() throws {
        let launches = try [
            (launch(1, hour: 30.1, .click(1)), match(1)), (launch(1, hour: 30.105, .retry), noMatch()),
            (launch(2, hour: 30.1, .organic), noMatch()), (launch(2, hour: 30.105, .retry), match(2)),
        ]
        #expect(try score([click(1, hour: 30), click(2, hour: 30)], launches).changedAnswers == 1)
    }
}
