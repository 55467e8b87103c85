import Attribution

extension FuzzEntry {
    private static let linkTokens = [
        "https://", "http://", "myapp://", "javascript:", "data:", "//", "/", "?", "#", "&", "=", "@", ":",
        ":443", ":99999", "[", "]", "[::1]", "..", "/../", "%2e%2e", "%", "%00", "%zz", "\\", "\u{0}", "\n",
        " ", "é", "xn--", "a.example", "\"", "<", ">", "{", "|",
    ]

    static let deepLink = FuzzEntry(text: "deep-link", tokens: linkTokens) { (text) throws(BrokenPromise) in
        guard let url = try? DeepLinkURL(parsing: text) else { return }
        let isPlain = url.text.utf8.allSatisfy { 0x21...0x7e ~= $0 && ![0x22, 0x3c, 0x5c].contains($0) }
        try promise(isPlain, "a link has a byte that no URL has")
        let again = try? DeepLinkURL(parsing: url.text)
        try promise(again == url, "a link changes, or is refused, when it is written and read again")
        guard let journey = JourneyID("j_1") else { throw BrokenPromise("the entry's journey is invalid") }
        let campaign = CampaignKey("ş&=")
        let answer = url.attributed(source: .instagram, campaignKey: campaign, journeyID: journey)
        try promise(answer.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "attribution adds an illegal byte")
        let scheme = url.text.prefix { $0 != ":" }
        let origin = url.text.split(separator: "/", maxSplits: 2)[1].prefix { $0 != "?" && $0 != "#" }
        let destination = try? Destination(parsing: "\(scheme)://\(origin)")
        try promise(destination?.covers(url) != false, "a link is not covered by its own origin")
        guard let attributed = try? DeepLinkURL(parsing: answer) else {
            return try promise(answer.utf8.count > DeepLinkURL.maximumLength, "attribution breaks a link")
        }
        try promise(attributed.queryItems.starts(with: url.queryItems), "attribution changes a parameter")
        try promise(attributed.queryItems.contains { $0.name == "jid" }, "attribution adds no journey")
        try promise(destination?.covers(attributed) != false, "attribution changes a link's origin")
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
