internal import Attribution

/// The body of a check's answer, as released clients decode it: both spellings of a name, never a wrong type.
enum MatchAnswer {
    static func match(_ claim: Claim) -> JSONWriter {
        let facts = claim.click.facts
        let url = facts.destination.answered(
            source: facts.source,
            campaignKey: facts.campaignKey,
            journeyID: facts.journeyID
        )
        var json = JSONWriter()
        json.object { json in
            json.member("status", "match")
            json.member("matched", true)
            json.member("url", url)
            json.member("deeplink_url", url)
            if let campaignKey = facts.campaignKey {
                json.member("campaignKey", campaignKey.text)
                json.member("campaign_key", campaignKey.text)
            }
            json.member("jid", facts.journeyID.text)
            json.member("clickTimestamp", facts.clickedAt.iso8601)
            json.member("attributionWindow", facts.window.seconds)
            json.member("attributionMethod", claim.method.rawValue)
            if let metadata = facts.metadata { json.member("metadata") { $0.raw(metadata.utf8) } }
        }
        return json
    }

    /// What a live key is told: always the same, so that nobody can probe fingerprints with it.
    static let plainNoMatch = noMatch(nil).bytes

    /// The reason is for test keys only.
    static func noMatch(_ reason: NoMatchReason?) -> JSONWriter {
        var json = JSONWriter()
        json.object { json in
            json.member("status", "no_match")
            json.member("matched", false)
            if let reason { json.member("reason", reason.rawValue) }
        }
        return json
    }
}
