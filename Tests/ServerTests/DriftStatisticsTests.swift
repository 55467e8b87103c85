import Attribution
import Foundation
import HTTPServer
internal import JSON
import Server
import TestDatabases
import Testing

@Suite("Match rates by group in the statistics")
struct DriftStatisticsTests {
    private let agent =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"

    private func launch(_ darwin: String, sdk: String?) -> [String: String] {
        var fields = ["User-Agent": "App/1 CFNetwork/1568.1 Darwin/\(darwin)", "X-Device-Platform": "ios"]
        if let sdk { fields["X-SDK-Version"] = sdk }
        return fields
    }

    /// The groups of the statistics, by their titles.
    private func groups(_ service: TestService) async throws -> [String: [String: Any]] {
        let answer = await service.statistics()
        let body = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        let drift = try #require(body?["drift"] as? [String: Any])
        #expect(drift["alarms"] as? Int == 0)
        let list = try #require(drift["groups"] as? [[String: Any]])
        return Dictionary(list.map { ($0["title"] as? String ?? "", $0) }) { first, _ in first }
    }

    @Test("statistics report the start of the drop in a group's match rate, and the time of its detection")
    func alarm() throws {
        let group = DriftGroup(launchOn: .ios, release: nil, sdk: nil)
        let alarm = DriftAlarm(
            group: group,
            since: try #require(Timestamp(iso8601: "2026-01-30T00:00:00Z")),
            began: try #require(Timestamp(iso8601: "2026-01-31T12:00:00Z")),
            usualRate: 0.5,
            rate: 0.25
        )
        var report = StatisticsReport()
        let reading = DriftReading(
            group: group,
            recent: DriftCount(trials: 8, matches: 2),
            usualRate: 0.5,
            alarm: alarm
        )
        report.drift = [AppDrift(app: AppID(high: 1, low: 2), readings: [reading])]
        let body = StatisticsBody(
            report: report,
            query: StatisticsQuery(),
            directory: Directory(apps: [], keys: []),
            now: Timestamp(milliseconds: 0)
        ).json()
        #expect(
            body.text.contains(
                #""fallen_to":0.25,"fallen_since":"2026-01-30T00:00:00.000Z","detected_at":"2026-01-31T12:00:00.000Z"}"#
            )
        )
    }

    @Test("groups appear after their span of six hours has ended, and small groups are merged")
    func counts() async throws {
        let service = try await TestService()
        let instagram = agent + " Mobile/22B83 Instagram 354.0 (iPhone12,8; iOS 18_1; tr_TR)"
        await service.click(fields: ["User-Agent": instagram])
        await service.check(hex, fields: launch("24.1.0", sdk: "paylisher-ios/1.8.9"))
        await service.check(
            String(repeating: "b", count: 64),
            fields: launch("24.1.0", sdk: "paylisher-ios/1.8.9")
        )
        await service.check(String(repeating: "c", count: 64), fields: launch("25.6.0", sdk: nil))
        #expect(try await groups(service).isEmpty)

        service.clock.advance(seconds: 21_600)
        let groups = try await groups(service)
        let whole = try #require(groups["all launches"])
        #expect(whole["checks"] as? Int == 3)
        #expect(whole["matches"] as? Int == 1)
        #expect(whole["status"] as? String == "learning")
        #expect(whole["usual_match_rate"] is NSNull)
        // Groups with so few launches are merged.
        #expect(groups["all other launches"]?["checks"] as? Int == 3)
        #expect(groups["all other clicks"]?["clicks"] as? Int == 1)
        #expect(groups["all other clicks"]?["matches"] as? Int == 1)
        #expect(groups.count == 3)
    }

    @Test("match rates count neither repeated responses nor robots nor test traffic")
    func leavesOut() async throws {
        let service = try await TestService()
        await service.click()
        await service.click(
            #"{"fingerprint":"\#(hex)","deeplink_url":"myapp://other/item"}"#,
            fields: ["User-Agent": "Googlebot/2.1 (+http://www.google.com/bot.html)"]
        )
        await service.check(hex)
        await service.check(hex)
        await service.check(hex, key: .test)
        service.clock.advance(seconds: 21_600)
        let groups = try await groups(service)
        #expect(groups["all launches"]?["checks"] as? Int == 1)
        #expect(groups["all other clicks"]?["clicks"] as? Int == 1)
    }

    @Test("statistics have the match rate of each system version, over all SDK versions, at once")
    func launchRates() async throws {
        let service = try await TestService()
        await service.click()
        await service.check(hex, fields: launch("24.1.0", sdk: "paylisher-ios/1.8.9"))
        await service.check(hex, key: .test, fields: launch("24.1.0", sdk: nil))
        let (second, third) = (String(repeating: "b", count: 64), String(repeating: "c", count: 64))
        await service.check(second, fields: launch("24.1.0", sdk: "paylisher-ios/1.8.8"))
        await service.check(third, fields: launch("25.2.0", sdk: nil))
        let rates = [
            #"{"platform":"ios","os_version":"18.1","checks":2,"matches":1,"match_rate":0.5}"#,
            #"{"platform":"ios","os_version":"26.2","checks":1,"matches":0,"match_rate":0.0}"#,
        ]
        let expected = "\"match_rates\":[\(rates.joined(separator: ","))]"
        #expect(await service.statistics().text.contains(expected))
        service.clock.advance(seconds: 7 * 86_400)
        #expect(await service.statistics().text.contains(expected))
        service.clock.advance(seconds: 21_600)
        #expect(await service.statistics().text.contains(#""match_rates":[]"#))
    }

    @Test("of several apps, only a query of one of them has the match rate of each system version")
    func launchRatesOfOneApp() async throws {
        let service = try await TestService()
        let other = try await service.addApp(App.Settings(name: "Other"))
        await service.check(hex, fields: launch("24.1.0", sdk: nil))
        let rate = #""os_version":"18.1","checks":1,"matches":0"#
        #expect(await service.statistics().text.contains(#""match_rates":[]"#))
        #expect(await service.statistics("app=\(service.app.text)").text.contains(rate))
        #expect(await service.statistics("app=\(other.app.text)").text.contains(#""match_rates":[]"#))
        let test = await service.statistics("app=\(service.app.text)&test=true")
        #expect(test.text.contains(#""match_rates":[]"#))
    }

    private static func days(_ runs: [(days: Int, trials: Int64, matches: Int64)]) -> [DriftCount] {
        runs.flatMap { Array(repeating: DriftCount(trials: $0.trials, matches: $0.matches), count: $0.days) }
    }

    /// The days of two groups of a side, the newest first; the first group's match rate fell a few days ago.
    private static func fall(of side: DriftSide) -> [(name: String, days: [DriftCount])] {
        switch side {
        case .launch:
            [
                ("ios/26.1/1.8.9", days([(2, 100, 40), (33, 100, 70)])),
                ("android/15/1.8.9", days([(35, 900, 600)])),
            ]
        case .click:
            [
                ("ios/26.1/instagram", days([(3, 600, 30), (37, 600, 90)])),
                ("ios/26.1/safari", days([(40, 3000, 400)])),
            ]
        }
    }

    @Test(
        "metrics count the alarms of launches and of clicks separately; both counts are 0 without an alarm",
        arguments: DriftSide.allCases
    )
    func metric(side: DriftSide) async throws {
        let service = try await TestService()
        func alarms() async -> [String] {
            let text = await service.send(.get, "/metrics", fields: service.bearer(.admin)).text
            return text.split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("afterlink_match_rate_alarms{") }
                .map { String($0.dropFirst("afterlink_match_rate_alarms".count)) }
        }
        #expect(await alarms() == [#"{by="launch"} 0"#, #"{by="click"} 0"#])
        let end = DriftHistory.end(at: service.clock.now)
        for (name, days) in Self.fall(of: side) {
            try service.change(.addMatchRates(group: name, side, days, end: end))
        }
        let (launches, clicks) = side == .launch ? (1, 0) : (0, 1)
        #expect(await alarms() == [#"{by="launch"} \#(launches)"#, #"{by="click"} \#(clicks)"#])
    }
}
