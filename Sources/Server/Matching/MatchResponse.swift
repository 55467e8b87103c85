internal import Attribution
internal import JSON

/// The body of a check's response in the form that released clients decode.
///
/// Clients differ in the spelling of two names, so both spellings are written. No member ever changes its type.
enum MatchResponse {
    /// Writes a match; nil if only the campaign is credited and the app has no default link.
    ///
    /// A match without a link is never sent, because clients would lose it. `settings` are nil for an app that was
    /// deleted meanwhile.
    static func match(_ claim: Claim, _ settings: App.Settings?, _ windows: MethodWindows) -> JSONWriter? {
        guard let url = url(claim, settings?.defaultLink) else { return nil }
        let facts = claim.click.facts
        return .object { json in
            json.member("status", "match")
            json.member("matched", true)
            json.member("url", url)
            json.member("deeplink_url", url)
            if let campaignKey = facts.campaignKey {
                json.member("campaignKey", campaignKey.text)
                json.member("campaign_key", campaignKey.text)
            }
            // Journey, click and metadata belong to a visitor, and a match of only the campaign identifies none.
            if !claim.isCampaignOnly {
                json.member("jid", facts.journeyID.text)
                json.member("click_id", claim.click.id.text)
            }
            json.member("clickTimestamp", facts.clickedAt.iso8601)
            json.member("attributionWindow", windows.window(facts.window, by: claim.method).seconds)
            json.member("attributionMethod", claim.method.rawValue)
            json.member("confidence", claim.confidence.map(rounded))
            json.member("guaranteed", claim.isGuaranteed)
            json.member("competingClicks", claim.competingClicks)
            if claim.isCampaignOnly {
                json.member("campaignOnly", true)
            } else if let metadata = settings?.clickIDs == .answer
                ? ClickIDsBody.metadata(of: facts) : facts.metadata
            {
                json.member("metadata") { $0.raw(metadata.utf8) }
            }
        }
    }

    private static func url(_ claim: Claim, _ defaultLink: DeepLinkURL?) -> String? {
        let facts = claim.click.facts
        guard claim.isCampaignOnly else {
            let (source, campaign, journey) = (facts.source, facts.campaignKey, facts.journeyID)
            return facts.destination.attributed(source: source, campaignKey: campaign, journeyID: journey)
        }
        return defaultLink?.attributed(campaignKey: facts.campaignKey)
    }

    /// Rounds to four decimal places, because the model is not more accurate.
    private static func rounded(_ probability: Double) -> Double {
        Double(Int(probability * 10_000 + 0.5)) / 10_000
    }

    /// The body of a no match without a reason, always the same, so that a caller cannot probe fingerprints with it.
    static var plainNoMatch: [UInt8] { noMatch(nil).bytes }

    /// Writes a no match; `reason` is nil unless the caller has a test key.
    static func noMatch(_ reason: NoMatchReason?) -> JSONWriter {
        .object { json in
            json.member("status", "no_match")
            json.member("matched", false)
            if let reason { json.member("reason", reason.rawValue) }
        }
    }
}
