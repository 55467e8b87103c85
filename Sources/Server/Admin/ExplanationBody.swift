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
            json.write(summary: explanation.summary, advice: explanation.advice)
            json.name("check")
            CheckBody(explanation.record).write(to: &json)
            launch(&json)
            json.name("clicks")
            json.array { json in
                for click in explanation.clicks { self.click(click, &json) }
            }
        }
        return json
    }

    /// What the fingerprint was made of; null where that is not known.
    private func launch(_ json: inout JSONWriter) {
        json.member("tried_combinations", explanation.triedCombinations)
        json.name("launch")
        guard let launch = explanation.launch else { return json.null() }
        json.object { json in
            json.member("form", launch.form.rawValue)
            json.name("components")
            json.object { json in
                for (component, value) in zip(launch.form.components, launch.values) {
                    json.member(component.rawValue, value)
                }
            }
        }
    }

    private func click(_ told: ExplainedClick, _ json: inout JSONWriter) {
        let (click, facts) = (told.click, explanation.record.facts)
        json.object { json in
            json.member("click_id", click.id.text)
            json.member("clicked_at", click.clickedAt.iso8601)
            json.member("expires_at", click.expiresAt.iso8601)
            json.member("campaign", click.campaign?.text)
            json.member("state", told.state.rawValue)
            json.member("same_fingerprint", told.hasSameFingerprint)
            json.member("address", click.agreement.word)
            json.member("screen", told.hasSameScreen.map { $0 ? "same" : "other" })
            json.member("share", told.share)
            if told.state == .expired {
                json.member("expired_for_seconds", facts.at.milliseconds(since: click.expiresAt) / 1000)
            }
            json.member("claimed_at", click.claimedAt?.iso8601)
            json.member("claimed_by", click.claimedBy?.rawValue)
            json.name("differences")
            json.array { json in
                for difference in told.differences {
                    json.object { json in
                        json.member("component", difference.component.rawValue)
                        json.member("click", difference.click)
                        json.member("launch", difference.launch)
                    }
                }
            }
        }
    }
}

extension JSONWriter {
    /// What every explanation begins with.
    mutating func write(summary: String, advice: [String]) {
        member("summary", summary)
        name("advice")
        array { json in
            for sentence in advice { json.value(sentence) }
        }
    }
}
