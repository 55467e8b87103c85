import Attribution
import Testing

@Suite("Source tokens")
struct SourceTests {
    private static func link(_ items: (String, String)...) -> SourceSignals {
        SourceSignals(linkItems: items.map(QueryItem.init(name:value:)))
    }

    @Test(
        "correspond to listed words, and are `unknown` for other words",
        arguments: [
            ("ig", .instagram), ("IG", .instagram), (" ig ", .instagram), ("instagram", .instagram),
            ("l.instagram.com", .instagram), ("com.instagram.android", .instagram),
            ("Instagram_Stories", .instagram), ("fb", .facebook), ("meta", .facebook),
            ("facebook", .facebook), ("m.facebook.com", .facebook), ("messenger", .facebook),
            ("com.facebook.katana", .facebook), ("katana", .facebook), ("com.facebook.orca", .facebook),
            ("orca", .facebook), ("fb.com", .facebook), ("l.fb.com", .facebook), ("fb.me", .facebook),
            ("http://fb.me/x", .facebook), ("tt", .tiktok), ("tiktok", .tiktok), ("www.tiktok.com", .tiktok),
            ("com.zhiliaoapp.musically", .tiktok), ("musically", .tiktok), ("zhiliaoapp", .tiktok),
            ("com.ss.android.ugc.trill", .tiktok), ("twitter", .twitter), ("com.twitter.android", .twitter),
            ("tweetie", .twitter), ("x", .twitter), ("X", .twitter), ("x.com", .twitter),
            ("www.x.com", .twitter), ("https://x.com/a", .twitter), ("t.co", .twitter),
            ("https://t.co/abc?x", .twitter), ("x.com:443", .twitter), ("qr", .qr), ("QR", .qr),
            ("qrcode", .qr), ("qr_code", .qr), ("qr-code", .qr), ("poster-qr-code-7", .qr), ("mail", .direct),
            ("sms", .direct), ("browser", .direct), ("website", .direct), ("web", .direct),
            ("direct", .direct), ("safari", .direct), ("com.android.chrome", .direct), ("firefox", .direct),
            ("com.apple.mobilemail", .direct), ("mobilesms", .direct),
            ("com.google.android.apps.messaging", .direct), ("whatsapp", .direct),
            ("web.telegram.org", .direct), ("com.google.android.gm@gmail", .direct),
            ("discount.com", .unknown), ("ax.com", .unknown), ("xcom", .unknown), ("t.com", .unknown),
            ("nott.co", .unknown), ("x.com.evil.example", .unknown), ("afb.com", .unknown),
            ("fb.com.tr", .unknown), ("google", .unknown), ("igx", .unknown), ("metaverse", .unknown),
            ("ttt", .unknown), ("qrs", .unknown), ("email", .unknown), ("webpage", .unknown),
            ("linkedin", .unknown), ("https://google.com/?x=t.co", .unknown), ("1", .unknown),
        ] as [(String, SourceToken)]
    )
    func words(_ word: String, token: SourceToken) {
        #expect(Self.link(("source", word)).reading.token == token)
        #expect(Self.link(("utm_source", word)).reading.token == token)
    }

    @Test("of a host with very many labels are read in linear time", .timeLimit(.minutes(1)))
    func manyLabels() {
        let labels = String(repeating: "a.", count: 300_000)
        #expect(Self.link(("source", labels + "x.com")).reading.token == .twitter)
        #expect(Self.link(("source", labels + "ax.com")).reading.token == .unknown)
    }

    @Test(
        "come from the first known signal, else are `unknown`, and are `direct` if there is no signal at all",
        arguments: [
            (SourceSignals(), .direct, nil),
            (link(("source", ""), ("utm_source", "  ")), .direct, nil),
            (link(("campaign", "summer")), .direct, nil),
            (link(("source", "ig"), ("utm_source", "fb")), .instagram, "ig"),
            (link(("utm_source", "fb"), ("source", "ig")), .instagram, "ig"),
            (link(("source", ""), ("utm_source", "fb")), .facebook, "fb"),
            // `utm_source` counts only if the link has no `source`.
            (link(("source", "newsletter"), ("utm_source", "fb")), .unknown, "newsletter"),
            (link(("utm_source", "google"), ("referrer", "t.co")), .twitter, "t.co"),
            (link(("utm_source", "Google ")), .unknown, "Google"),
            (link(("referrer", "news"), ("ref", "ig")), .unknown, "news"),
            (link(("ref", "ig"), ("fbclid", "1")), .instagram, "ig"),
            (link(("ref", "news"), ("fbclid", "1")), .facebook, "fbclid"),
            (link(("fbclid", "")), .direct, nil),
            (link(("ttclid", "1")), .tiktok, "ttclid"),
            (link(("igshid", "1")), .instagram, "igshid"),
            (link(("twclid", "1")), .twitter, "twclid"),
            (link(("igshid", "1"), ("fbclid", "1")), .facebook, "fbclid"),
            (SourceSignals(referer: "https://l.facebook.com/l.php?u=x"), .facebook, "l.facebook.com"),
            (SourceSignals(referer: "https://shop.example/?x=instagram"), .unknown, "shop.example"),
            (SourceSignals(referer: "android-app://com.twitter.android/"), .twitter, "com.twitter.android"),
            (SourceSignals(referer: "https://www.google.com/"), .unknown, "www.google.com"),
            (SourceSignals(referer: "about:blank"), .unknown, "about"),
            (
                SourceSignals(linkItems: [QueryItem(name: "ref", value: "ig")], referer: "https://t.co/"),
                .instagram, "ig"
            ),
            (SourceSignals(utmSource: "instagram"), .instagram, "instagram"),
            (
                SourceSignals(
                    linkItems: [QueryItem(name: "utm_source", value: "fb")],
                    utmSource: "instagram"
                ), .facebook, "fb"
            ),
            // The source in the body names a network, or only the kind of the page.
            (SourceSignals(source: "tiktok", utmSource: "instagram"), .tiktok, "tiktok"),
            (SourceSignals(source: "web", utmSource: "instagram"), .instagram, "instagram"),
            (SourceSignals(source: "web", referer: "https://instagram.com/"), .instagram, "instagram.com"),
            (SourceSignals(source: "web", referer: "https://google.com/"), .direct, "web"),
            (SourceSignals(source: "web"), .direct, "web"),
            (SourceSignals(source: "newsletter"), .unknown, "newsletter"),
            (SourceSignals(linkItems: [QueryItem(name: "source", value: "qr")], source: "tiktok"), .qr, "qr"),
        ] as [(SourceSignals, SourceToken, String?)]
    )
    func order(_ signals: SourceSignals, token: SourceToken, raw: String?) {
        #expect(signals.reading == SourceSignals.Reading(token: token, raw: raw))
    }

    @Test(
        "come from the user agents of in-app browsers, but not of ordinary browsers",
        arguments: [
            (
                "Mozilla/5.0 (iPhone) Mobile/15E148 Instagram 300.0.0.0.0 (iPhone13,3; iOS 26_1; FBAV/1)",
                .instagram
            ),
            ("Mozilla/5.0 (iPhone) Mobile/15E148 [FBAN/FBIOS;FBAV/540.0]", .facebook),
            ("Mozilla/5.0 (Linux; Android 13) Safari/537.36 [FB_IAB/FB4A;FBAV/540.0.0.42.77;]", .facebook),
            ("Mozilla/5.0 (Linux; Android 13) musical_ly_2023 BytedanceWebview/d8a21c6", .tiktok),
            ("Mozilla/5.0 (iPhone) Mobile/15E148 trill_310 TikTok", .tiktok),
            ("Mozilla/5.0 (iPhone) Twitter for iPhone/10.1", .twitter),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) Version/17.2 Mobile/15E148 Safari/604.1",
                .direct
            ),
            ("Mozilla/5.0 (Linux; Android 10; K) Chrome/143.0.0.0 Mobile Safari/537.36", .direct),
            ("", .direct),
        ] as [(String, SourceToken)]
    )
    func userAgents(_ userAgent: String, token: SourceToken) {
        #expect(SourceSignals(userAgent: userAgent).reading.token == token)
        #expect(Self.link(("source", "qr")).reading.token == .qr)
    }

    @Test("keep 255 characters of the raw value")
    func rawLength() {
        let long = String(repeating: "é", count: 300)
        let reading = SourceSignals.Reading(token: .unknown, raw: String(long.prefix(255)))
        #expect(Self.link(("source", long)).reading == reading)
    }

    @Test("are written into links, except `direct` and `unknown`")
    func written() {
        #expect(SourceToken.allCases.filter { !$0.isWritten } == [.direct, .unknown])
        let words = ["instagram", "facebook", "twitter", "tiktok", "qr", "direct", "unknown"]
        #expect(SourceToken.allCases.map(\.rawValue) == words)
    }
}
