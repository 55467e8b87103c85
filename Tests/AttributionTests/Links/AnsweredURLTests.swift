import Attribution
import Testing

@Suite("Deep links with attribution")
struct AnsweredURLTests {
    private let journey = JourneyID("j_1")

    @Test(
        "contain source, campaign key and journey before the fragment",
        arguments: [
            ("myapp://promo/item", "myapp://promo/item?source=instagram&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?a=1", "myapp://promo?a=1&source=instagram&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?", "myapp://promo?source=instagram&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?a=1&", "myapp://promo?a=1&source=instagram&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?a=?", "myapp://promo?a=?&source=instagram&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo#top", "myapp://promo?source=instagram&keyName=SUMMER25&jid=j_1#top"),
            (
                "myapp://promo?a=1#top?x=2",
                "myapp://promo?a=1&source=instagram&keyName=SUMMER25&jid=j_1#top?x=2"
            ),
            // The link's own parameters stay, empty or not.
            ("myapp://promo?source=mail", "myapp://promo?source=mail&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?source=", "myapp://promo?source=&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?so%75rce=x", "myapp://promo?so%75rce=x&keyName=SUMMER25&jid=j_1"),
            ("myapp://promo?keyName=A", "myapp://promo?keyName=A&source=instagram&jid=j_1"),
            ("myapp://promo?key=A", "myapp://promo?key=A&source=instagram&jid=j_1"),
            ("myapp://promo?k=A", "myapp://promo?k=A&source=instagram&jid=j_1"),
            ("myapp://promo?jid=j_own", "myapp://promo?jid=j_own&source=instagram&keyName=SUMMER25"),
            ("myapp://promo?source=a&k=b&jid=c#d", "myapp://promo?source=a&k=b&jid=c#d"),
            // Similar names do not count as the link's own parameters.
            (
                "myapp://promo?utm_source=x&keyname=y&Jid=z",
                "myapp://promo?utm_source=x&keyname=y&Jid=z&source=instagram&keyName=SUMMER25&jid=j_1"
            ),
            ("myapp://promo#?source=x", "myapp://promo?source=instagram&keyName=SUMMER25&jid=j_1#?source=x"),
        ]
    )
    func appends(_ link: String, expected: String) throws {
        let url = try DeepLinkURL(parsing: link)
        let answer = url.attributed(
            source: .instagram,
            campaignKey: CampaignKey("SUMMER25"),
            journeyID: try #require(journey)
        )
        #expect(answer == expected)
    }

    @Test("contain every source except direct and unknown", arguments: SourceToken.allCases)
    func tokens(_ token: SourceToken) throws {
        let url = try DeepLinkURL(parsing: "myapp://promo")
        let answer = url.attributed(source: token, campaignKey: nil, journeyID: try #require(journey))
        let isWritten = token != .direct && token != .unknown
        let source = isWritten ? "source=\(token.rawValue)&" : ""
        #expect(answer == "myapp://promo?\(source)jid=j_1")
    }

    @Test("contain all text percent-encoded, so that it cannot become another parameter")
    func encodes() throws {
        let url = try DeepLinkURL(parsing: "myapp://promo")
        let answer = url.attributed(
            source: .unknown,
            campaignKey: CampaignKey("yaz & güz=%1#+?"),
            journeyID: try #require(JourneyID("a/b~c-d_e.f"))
        )
        #expect(answer == "myapp://promo?keyName=yaz%20%26%20g%C3%BCz%3D%251%23%2B%3F&jid=a%2Fb~c-d_e.f")
        let back = try DeepLinkURL(parsing: answer).queryItems.map(\.value)
        #expect(back == ["yaz & güz=%1#+?", "a/b~c-d_e.f"])
    }

    @Test(
        "contain only the campaign if there is no click",
        arguments: [
            ("myapp://home", "myapp://home?keyName=SUMMER25"),
            ("myapp://home?a=1", "myapp://home?a=1&keyName=SUMMER25"),
            ("myapp://home?k=own#top", "myapp://home?k=own#top"),
            ("myapp://home#x", "myapp://home?keyName=SUMMER25#x"),
        ]
    )
    func campaignAlone(link: String, expected: String) {
        #expect(DeepLinkURL(stored: link).attributed(campaignKey: CampaignKey("SUMMER25")) == expected)
        #expect(DeepLinkURL(stored: link).attributed(campaignKey: nil) == link)
    }
}
