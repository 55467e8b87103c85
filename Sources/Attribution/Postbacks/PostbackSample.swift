/// Invented events, with which an operator tests an endpoint; each has the member `sample`.
public enum PostbackSample {
    /// Returns the members of an invented event as a JSON object.
    public static func data(_ type: PostbackType, at now: Timestamp) -> String {
        let fact: PostbackFact? =
            switch type {
            case .matchCreated, .matchCampaignOnly:
                .match(
                    claim(at: now, isCampaignOnly: type == .matchCampaignOnly),
                    launch(at: now),
                    withClickIDs: true
                )
            case .clickRecorded: .click(click(at: now), withClickIDs: true)
            case .eventReceived: .event(event(at: now))
            case .applePostbackReceived: .apple(postback(at: now))
            default: nil
            }
        let members = fact?.data.dropFirst().dropLast() ?? ""
        return "{\"sample\":true\(members.isEmpty ? "" : ",")\(members)}"
    }

    private static let id = ClickID(high: 0, low: 0)

    private static func click(at now: Timestamp) -> Click {
        var facts = Click.Facts(
            app: AppID(high: 0, low: 0),
            destination: DeepLinkURL(stored: "example://product/42?utm_source=newsletter"),
            campaignKey: CampaignKey("SAMPLE"),
            journeyID: JourneyID(at: now, random: RandomSource { [UInt8](repeating: 0, count: $0) }),
            clickedAt: now.advanced(byMilliseconds: -60_000),
            recordedAt: now.advanced(byMilliseconds: -60_000),
            window: .standard
        )
        facts.platform = .ios
        return Click(id: id, facts: facts)
    }

    private static func launch(at now: Timestamp) -> CheckFacts {
        var facts = CheckFacts(at: now, outcome: .match)
        facts.platform = .ios
        return facts
    }

    private static func claim(at now: Timestamp, isCampaignOnly: Bool) -> Claim {
        Claim(
            click: click(at: now),
            claimedAt: now,
            method: .fingerprint,
            confidence: 0.97,
            competingClicks: 1,
            isCampaignOnly: isCampaignOnly
        )
    }

    private static func event(at now: Timestamp) -> ReceivedEvent {
        var event = ReceivedEvent(eventID: "sample-1", name: "purchase", occurredAt: now, isVerified: true)
        (event.amount, event.currency, event.campaignKey) = ("9.99", "EUR", "SAMPLE")
        event.click = id
        return event
    }

    private static func postback(at now: Timestamp) -> StoredApplePostback {
        var postback = ApplePostback(.skAdNetwork, network: "com.example", item: "1", id: "sample-1")
        (postback.version, postback.source, postback.fineValue) = ("4.0", "5239", 63)
        return StoredApplePostback(postback, .valid, .production, receivedAt: now, body: "")
    }
}
