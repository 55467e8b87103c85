public import Attribution
public import JSON

/// The JSON form of a click's explanation, shared by the endpoint and `afterlink explain --json`.
public struct ClickExplanationBody {
    private let explanation: ClickExplanation

    public init(_ explanation: ClickExplanation) {
        self.explanation = explanation
    }

    public func json() -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("summary", explanation.summary)
            json.member("advice", explanation.advice)
            json.object("click", writeClick)
            json.member("searched_checks", explanation.material.searchedChecks)
            json.objects("checks", explanation.material.near) { json, near in
                json.member("relation", near.relation.rawValue)
                json.member("check", CheckBody(near.record).write)
            }
        }
        return json
    }

    private func writeClick(to json: inout JSONWriter) {
        let (click, material) = (explanation.click, explanation.material)
        json.member("click_id", click.id.text)
        json.member("app", material.app.text)
        json.member("test", material.isTest)
        json.member("clicked_at", click.clickedAt.iso8601)
        json.member("expires_at", click.expiresAt.iso8601)
        json.member("campaign", click.campaign?.text)
        json.member("state", explanation.state.rawValue)
        json.member("platform", click.platform.rawValue)
        json.member("basis", click.basis?.rawValue)
        json.member("keys", material.keyCount)
        json.member("indexed", material.isIndexed)
        json.member("fingerprinting", explanation.usesFingerprints)
        json.member("claimed_at", click.claimedAt?.iso8601)
        json.member("claimed_by", click.claimedBy?.rawValue)
    }
}
