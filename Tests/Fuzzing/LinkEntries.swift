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
        // Encoding makes a link longer, perhaps too long to be read again.
        if let again = try? DeepLinkURL(parsing: url.text) {
            try promise(again == url, "a link reads differently when it is written")
        } else {
            try promise(url.text.utf8.count > DeepLinkURL.maximumLength, "an accepted link is refused")
        }
        _ = url.queryItems
        guard let journey = JourneyID("j_1") else { throw BrokenPromise("the entry's journey is none") }
        let answer = url.attributed(
            source: .instagram,
            campaignKey: CampaignKey("SUMMER25"),
            journeyID: journey
        )
        try promise(answer.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "an answered link has an illegal byte")
        for prefix in ["myapp://", "https://a.example/x"] {
            _ = try? Destination(parsing: prefix).covers(url)
        }
    }

    static let destination = FuzzEntry(text: "destination", tokens: linkTokens) {
        (text) throws(BrokenPromise) in
        guard let destination = try? Destination(parsing: text) else { return }
        guard let again = try? Destination(parsing: destination.text) else {
            throw BrokenPromise("a destination that was accepted is refused")
        }
        try promise(again == destination, "a destination reads differently when it is written")
    }

    static let origin = FuzzEntry(text: "origin", tokens: linkTokens) { (text) throws(BrokenPromise) in
        guard let origin = Origin(text) else { return }
        try promise(Origin(origin.text) == origin, "an origin reads differently when it is written")
    }
}
