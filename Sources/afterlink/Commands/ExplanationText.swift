internal import Attribution

/// An explanation for people: what happened, what to do, and the facts in tables.
struct ExplanationText {
    private let explanation: Explanation

    init(_ explanation: Explanation) {
        self.explanation = explanation
    }

    var text: String {
        let advice = explanation.advice.map { "- \($0)" }.joined(separator: "\n")
        let parts = [
            Table.printable(explanation.summary), advice, check, clicks, differences,
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var check: String {
        let (record, facts) = (explanation.record, explanation.record.facts)
        var table = Table([("CHECK", .left), (record.id.text, .left)])
        func add(_ name: String, _ value: String?) {
            if let value { table.add([name, value]) }
        }
        add("at", facts.at.iso8601)
        add("outcome", facts.outcome.rawValue)
        add("reason", facts.reason?.rawValue)
        add("method", facts.method?.rawValue)
        add("confidence", facts.confidence.map(Explanation.percent))
        add("demanded", Explanation.percent(facts.minimumConfidence))
        add("came from no click", facts.organicShare.map(Explanation.percent))
        add("live clicks", String(facts.candidates))
        add("campaign", record.campaign?.text)
        add("form", explanation.launch?.form.rawValue ?? facts.platformForm?.form?.rawValue)
        add("fingerprint of", explanation.launch?.words)
        add("platform", facts.platform.rawValue)
        add("SDK", facts.sdkVersion)
        add("first installed", facts.firstInstalledAt.map(installed))
        add("request", facts.requestID)
        add("traffic", record.isTest ? "test" : nil)
        return table.text
    }

    private func installed(_ moment: Timestamp) -> String {
        let elapsed = explanation.record.facts.at.milliseconds(since: moment)
        let ago = elapsed >= 0 ? ", \(ElapsedTime.text(milliseconds: elapsed)) before" : ""
        return moment.iso8601 + ago
    }

    private var clicks: String {
        guard !explanation.clicks.isEmpty else { return "" }
        var table = Table([
            ("CLICK", .left), ("CAMPAIGN", .left), ("BEFORE", .right), ("STATE", .left),
            ("FINGERPRINT", .left),
            ("SHARE", .right),
        ])
        for told in explanation.clicks {
            let elapsed = explanation.record.facts.at.milliseconds(since: told.click.clickedAt)
            table.add([
                told.click.id.text,
                told.click.campaign?.text ?? "–",
                ElapsedTime.text(milliseconds: elapsed),
                state(told),
                told.hasSameFingerprint ? "same" : "other",
                told.share.map(Explanation.percent) ?? "–",
            ])
        }
        return table.text
    }

    private func state(_ told: ExplainedClick) -> String {
        let at = explanation.record.facts.at
        func ago(_ moment: Timestamp?) -> String {
            moment.map { " \(ElapsedTime.text(milliseconds: at.milliseconds(since: $0))) before" } ?? ""
        }
        return switch told.state {
        case .expired: "expired" + ago(told.click.expiresAt)
        case .claimed: "consumed by another launch" + ago(told.click.claimedAt)
        case .retired: "retired with a later one"
        case .robot: "of a robot"
        case .answered: "this check's answer"
        case .open: "open"
        case .later: "came later"
        }
    }

    private var differences: String {
        var table = Table([
            ("CLICK", .left), ("DIFFERS IN", .left), ("CLICK SAYS", .left), ("LAUNCH HASH FITS", .left),
        ])
        for told in explanation.clicks {
            for difference in told.differences {
                table.add([
                    told.click.id.text, difference.component.rawValue, difference.click, difference.launch,
                ])
            }
        }
        return table.isEmpty ? "" : table.text
    }
}
