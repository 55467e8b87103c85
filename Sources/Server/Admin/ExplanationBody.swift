public import Attribution
public import JSON

/// The JSON form of an explanation, shared by the endpoint and `afterlink explain --json`.
public struct ExplanationBody {
    private let explanation: Explanation

    public init(_ explanation: Explanation) {
        self.explanation = explanation
    }

    public func json() -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("summary", explanation.summary)
            json.member("advice", explanation.advice)
            json.member("check", CheckBody(explanation.record).write)
            json.member("tried_combinations", explanation.triedCombinations)
            json.member("launch", writeLaunch)
            json.objects("clicks", explanation.clicks) { write($1, to: &$0) }
        }
        return json
    }

    /// Writes what the fingerprint was made of; null where that is not known.
    private func writeLaunch(to json: inout JSONWriter) {
        guard let launch = explanation.launch else { return json.null() }
        json.object { json in
            json.member("form", launch.form.rawValue)
            json.object("components") { json in
                for (component, value) in zip(launch.form.components, launch.values) {
                    json.member(component.rawValue, value)
                }
            }
        }
    }

    private func write(_ explained: ExplainedClick, to json: inout JSONWriter) {
        let (click, facts) = (explained.click, explanation.record.facts)
        json.member("click_id", click.id.text)
        json.member("clicked_at", click.clickedAt.iso8601)
        json.member("expires_at", click.expiresAt.iso8601)
        json.member("campaign", click.campaign?.text)
        json.member("state", explained.state.rawValue)
        json.member("same_fingerprint", explained.hasSameFingerprint)
        json.member("address", click.agreement.word)
        json.member("screen", explained.hasSameScreen.map { $0 ? "same" : "other" })
        json.member("share", explained.share)
        if explained.state == .expired {
            json.member("expired_for_seconds", facts.at.milliseconds(since: click.expiresAt) / 1000)
        }
        json.member("claimed_at", click.claimedAt?.iso8601)
        json.member("claimed_by", click.claimedBy?.rawValue)
        json.objects("differences", explained.differences) { json, difference in
            json.member("component", difference.component.rawValue)
            json.member("click", difference.click)
            json.member("launch", difference.launch)
        }
    }
}
