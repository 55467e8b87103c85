import Attribution
import JSON
import Server
import Testing

@Suite("The JSON of a report on collisions")
struct CollisionBodyTests {
    private let id = AppID(high: 1, low: 2)

    private func text(_ report: CollisionReport) -> String {
        let app = App(id: id, settings: App.Settings(name: "Shop"), createdAt: Timestamp(milliseconds: 0))
        var json = JSONWriter()
        json.object { json in
            let directory = Directory(apps: [app], keys: [])
            CollisionBody.write([AppCollisions(app: id, report: report)], in: directory, to: &json)
        }
        return json.text
    }

    @Test("the JSON of a report has every count under its own name")
    func whole() throws {
        let report = CollisionReport(
            countedAt: Timestamp(milliseconds: 1_700_000_000_000),
            window: .standard,
            forms: [
                .init(
                    platformForm: PlatformForm(platform: .ios, form: .d),
                    sharing: FingerprintSharing(clicks: 8, aloneSum: 2, competingSum: 12)
                ),
                .init(
                    platformForm: PlatformForm(platform: .android, form: nil),
                    sharing: FingerprintSharing(clicks: 1, aloneSum: 1)
                ),
            ],
            matches: 40,
            expectedFalse: 5,
            spread: 1.5,
            limits: [
                FalseMatchLimit(share: 0.01),
                FalseMatchLimit(
                    share: 0.05,
                    threshold: .init(minimum: 0.85, matches: 30),
                    window: .init(window: try #require(AttributionWindow(seconds: 3600)), matches: 20)
                ),
            ]
        )
        #expect(
            text(report)
                == #"{"collisions":[{"app":"\#(id.text)","name":"Shop","counted_at":"2023-11-14T22:13:20.000Z","#
                + #""window_seconds":86400,"#
                + #""forms":[{"platform":"ios","form":"D","clicks":8.0,"alone":0.25,"competing_clicks":1.5},"#
                + #"{"platform":"android","clicks":1.0,"alone":1.0,"competing_clicks":0.0}],"#
                + #""matches":40,"expected_false_matches":{"count":5.0,"spread":1.5},"false_match_share":0.125,"#
                + #""limits":[{"false_match_share":0.01},{"false_match_share":0.05,"minimum_confidence":0.85,"#
                + #""matches_by_confidence":30,"window_seconds":3600,"matches_in_window":20}]}]}"#
        )
    }

    @Test("without matches, the JSON omits the share of false matches")
    func empty() {
        let report = CollisionReport(
            countedAt: Timestamp(milliseconds: 0),
            window: .standard,
            forms: [],
            matches: 0,
            expectedFalse: 0,
            spread: 0,
            limits: []
        )
        #expect(!text(report).contains("false_match_share"))
        #expect(text(report).contains(#""forms":[]"#))
    }
}
