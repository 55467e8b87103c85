/// What the demo sends.
extension ClientRequest {
    /// What a landing page's script posts from Safari on an iPhone in Turkey.
    static func click(link: String, host: String) -> ClientRequest {
        let body = """
            {"signals":{"model":"iPhone","osVersion":"17.2","screenWidth":390,"screenHeight":844,"pixelRatio":3,\
            "timezone":"Europe/Istanbul","language":"tr-TR","languages":["tr-TR","en"],"touchPoints":5},\
            "deeplink_url":"\(link)?utm_source=instagram","campaign_key":"SUMMER25",\
            "referer":"https://l.instagram.com/","platform":"ios"}
            """
        return ClientRequest(
            "POST /v1/deferred-deeplink/click",
            host: host,
            [
                (
                    "User-Agent",
                    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 "
                        + "(KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1"
                ),
                ("Accept", "*/*"),
                ("Accept-Language", "tr-TR,tr;q=0.9"),
                ("Accept-Encoding", "gzip, deflate, br"),
                ("Origin", "https://go.shop.example"),
                ("Referer", "https://go.shop.example/summer25"),
                ("Sec-Fetch-Site", "cross-site"),
                ("Content-Type", "application/json"),
                ("Content-Length", String(body.utf8.count)),
            ],
            body: body
        )
    }

    /// What the SDK in the app sends at the first launch.
    static func check(fingerprint: String, key: String, host: String) -> ClientRequest {
        ClientRequest(
            "GET /v1/deferred-deeplink?fingerprint=\(fingerprint)",
            host: host,
            [
                ("Authorization", "Bearer \(key)"),
                ("X-SDK-Version", "paylisher-ios/1.8.9"),
                ("X-Device-Platform", "ios"),
                ("User-Agent", "Shop/25 CFNetwork/1490.0.4 Darwin/23.2.0"),
                ("Accept", "application/json"),
                ("Accept-Language", "tr-TR,tr;q=0.9"),
                ("Accept-Encoding", "gzip, deflate"),
            ]
        )
    }

    static func statistics(key: String, host: String) -> ClientRequest {
        ClientRequest("GET /admin/stats", host: host, [("Authorization", "Bearer \(key)")])
    }
}
