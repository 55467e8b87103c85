import Attribution

extension FuzzEntry {
    private static let linkTokens = [
        "https://", "http://", "myapp://", "javascript:", "data:", "//", "/", "?", "#", "&", "=", "@", ":",
        ":443", ":99999", "[", "]", "[::1]", "..", "/../", "%2e%2e", "%", "%00", "%zz", "\\", "\u{0}", "\n",
        " ", "é", "xn--", "a.example", "\"", "<", ">", "{", "|",
    ]

    static let deepLink = FuzzEntry(text: "deep-link", tokens: linkTokens) { (text) throws(BrokenPromise) in
        guard let url = try? DeepLinkURL(parsing: text) else { return }
        try promise(url.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a link has a byte that no URL has")
        let again = try? DeepLinkURL(parsing: url.text)
        try promise(again == url, "a link changes, or is refused, when it is written and read again")
        _ = url.queryItems
        guard let journey = JourneyID("j_1") else { throw BrokenPromise("the entry's journey is invalid") }
        let campaign = CampaignKey("SUMMER25")
        let answer = url.attributed(source: .instagram, campaignKey: campaign, journeyID: journey)
        try promise(answer.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "attribution adds an illegal byte")
        for prefix in ["myapp://", "https://a.example/x"] {
            _ = try? Destination(parsing: prefix).covers(url)
        }
    }

    static let destination = FuzzEntry(same: "destination", tokens: linkTokens) {
        try? Destination(parsing: $0)
    } write: {
        $0.text
    }

    static let origin = FuzzEntry(same: "origin", tokens: linkTokens) {
        Origin($0)
    } write: {
        $0.text
    }
}
