/// A request as a phone sends it, header fields and all.
struct DemoRequest {
    private let line: String
    private let fields: [(name: String, value: String)]
    private let body: String

    /// What a landing page's script posts from Safari on an iPhone in Turkey.
    static func click(link: String, host: String) -> DemoRequest {
        let body = """
            {"signals":{"model":"iPhone","osVersion":"17.2","screenWidth":390,"screenHeight":844,"pixelRatio":3,\
            "timezone":"Europe/Istanbul","language":"tr-TR","languages":["tr-TR","en"],"touchPoints":5},\
            "deeplink_url":"\(link)?utm_source=instagram","campaign_key":"SUMMER25",\
            "referer":"https://l.instagram.com/","platform":"ios"}
            """
        return DemoRequest(
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
    static func check(fingerprint: String, key: String, host: String) -> DemoRequest {
        DemoRequest(
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

    static func statistics(key: String, host: String) -> DemoRequest {
        DemoRequest("GET /admin/stats", host: host, [("Authorization", "Bearer \(key)")])
    }

    private init(_ line: String, host: String, _ fields: [(name: String, value: String)], body: String = "") {
        self.line = line
        self.fields = [("Host", host)] + fields + [("Connection", "close")]
        self.body = body
    }

    /// As it goes over the wire.
    var text: String {
        let lines = ["\(line) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// As it is shown: without the fields that say nothing, and with keys cut short.
    var shown: String {
        let dull = ["Host", "Accept", "Accept-Encoding", "Sec-Fetch-Site", "Content-Length", "Connection"]
        let lines = fields.filter { !dull.contains($0.name) }.map { field in
            let isKey = field.name == "Authorization"
            return "> \(field.name): " + (isKey ? field.value.prefix(16) + "…" : field.value[...])
        }
        let content = body.isEmpty ? "" : "\n>\n" + DemoScene.indented(body, by: "> ")
        return (["> \(line)"] + lines).joined(separator: "\n") + content
    }
}
