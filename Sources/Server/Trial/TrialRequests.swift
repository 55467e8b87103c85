public import Attribution
public import JSON

/// An HTTP request as a browser or an app sends it, with all header fields.
public struct ClientRequest: Sendable {
    /// The method and the target.
    public let line: String
    public let fields: [(name: String, value: String)]
    public let body: String

    /// Creates a request that closes its connection.
    ///
    /// - Parameters:
    ///   - line: the method and the target.
    ///   - host: the field `Host`.
    ///   - fields: all other fields except `Connection`; they include `Content-Length` if there is a body.
    ///   - body: the body; empty for none.
    public init(_ line: String, host: String, _ fields: [(name: String, value: String)], body: String = "") {
        self.line = line
        self.fields = [("Host", host)] + fields + [("Connection", "close")]
        self.body = body
    }

    /// The bytes on the wire, as text.
    public var text: String {
        let lines = ["\(line) HTTP/1.1"] + fields.map { "\($0.name): \($0.value)" }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

/// An HTTP response as Afterlink's server sends it, without its header fields.
public struct ClientResponse: Sendable {
    public let status: Int
    /// The status line's text, such as `200 OK`.
    public let statusText: String
    public let body: String
    /// The body as a JSON object; nil if it is not one.
    public let json: JSONObject?

    /// Creates a response; if `statusText` is nil, the number of the status is used.
    public init(status: Int, _ statusText: String? = nil, body: String) {
        self.status = status
        self.statusText = statusText ?? String(status)
        self.body = body
        json = (try? JSONValue(parsing: Array(body.utf8)))?.object
    }

    /// Reads a whole response; nil if the bytes are not one.
    public init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        // CR LF is one Character in Swift, so two Characters separate head and body.
        guard let blank = text.firstRange(of: "\r\n\r\n") else { return nil }
        let first = text.prefix { $0 != "\r\n" }
        guard first.hasPrefix("HTTP/1.1 "), let status = Int(first.dropFirst(9).prefix(3)) else { return nil }
        self.init(status: status, String(first.dropFirst(9)), body: String(text[blank.upperBound...]))
    }
}

extension Trial {
    private static let page = "https://go.shop.example"
    private static let path = "/v1/deferred-deeplink"

    /// Makes the request that posts the click, from the browser or from a customer's server.
    ///
    /// A page without a key posts the click without `key`. `time` is for a server whose clock the requests set.
    public func click(host: String, key: String, at time: Timestamp?) -> ClientRequest {
        let body = clickBody
        var fields = poster == .server ? [("User-Agent", "shop-backend/1.0")] : browserFields
        if poster != .page { fields.append(("Authorization", "Bearer \(key)")) }
        fields += Self.testTime(time)
        fields += [("Content-Type", "application/json"), ("Content-Length", String(body.utf8.count))]
        return ClientRequest("POST \(Self.path)/click", host: host, fields, body: body)
    }

    /// Makes the request of the first launch's check, as the SDK or a newer client sends it.
    ///
    /// `token` is the click's token; nil for a launch without one. `play` is Google Play's report in JSON, which contains
    /// the token.
    public func launch(host: String, key: String, token: String?, play: String? = nil, at time: Timestamp?)
        -> ClientRequest
    {
        let token = play == nil ? token : nil
        guard !release.sendsRawSignals else {
            return resolve(host: host, key: key, token: token, play: play, at: time)
        }
        var target = "\(Self.path)?fingerprint=\(launch.fingerprint.hex)"
        // A token consists of base64url characters, so it needs no percent-encoding.
        if let token { target += "&token=\(token)" }
        var fields = [("Authorization", "Bearer \(key)"), ("X-SDK-Version", release.versionField)]
        if release.namesPlatform { fields.append(("X-Device-Platform", device.platform.rawValue)) }
        if let play { fields.append(("X-Play-Referrer", Base64URL.text(of: Array(play.utf8)))) }
        return ClientRequest("GET \(target)", host: host, fields + appFields + Self.testTime(time))
    }

    /// Makes the request of a first launch from a client library's own header fields and body.
    public func launch(
        host: String,
        fields: [(name: String, value: String)],
        body: String,
        at time: Timestamp?
    ) -> ClientRequest {
        let length = [("Content-Length", String(body.utf8.count))]
        return ClientRequest(
            "POST \(Self.path)/resolve",
            host: host,
            fields + appFields + Self.testTime(time) + length,
            body: body
        )
    }

    /// Makes the request that reports a sign-up and a purchase of the installation that got a click.
    public func events(host: String, key: String, click: String) -> ClientRequest {
        let body = JSONWriter.object { json in
            json.objects("events", ["sign_up", "purchase"]) { json, name in
                json.member("event_id", "\(journey)-\(name)")
                json.member("name", name)
                json.member("click_id", click)
                guard name == EventName.purchase.text else { return }
                json.member("amount", "9.99")
                json.member("currency", "EUR")
            }
        }.text
        var fields = [("Authorization", "Bearer \(key)")] + appFields
        fields += [("Content-Type", "application/json"), ("Content-Length", String(body.utf8.count))]
        return ClientRequest("POST \(RecordEvents.path)", host: host, fields, body: body)
    }

    /// The header fields that the default client of an app on the device adds.
    private var appFields: [(name: String, value: String)] {
        var fields = [("User-Agent", appAgent), ("Accept", "*/*")]
        // The default HTTP client of an Android app does not send the language.
        if device.platform == .ios { fields.append(("Accept-Language", person.acceptLanguage)) }
        fields.append(("Accept-Encoding", device.platform == .ios ? "gzip, deflate" : "gzip"))
        return fields
    }

    /// Makes the check of a newer client, which sends its signals instead of a fingerprint.
    private func resolve(host: String, key: String, token: String?, play: String?, at time: Timestamp?)
        -> ClientRequest
    {
        let body = JSONWriter.object { json in
            json.member("platform", device.platform.rawValue)
            json.object("signals") { Self.write(device.values(for: person), to: &$0) }
            json.member("token", token)
            if let play { json.member("play") { $0.raw(play.utf8) } }
        }.text
        var fields = [("Authorization", "Bearer \(key)"), ("X-SDK-Version", release.versionField)]
        fields += appFields + Self.testTime(time)
        fields += [("Content-Type", "application/json"), ("Content-Length", String(body.utf8.count))]
        return ClientRequest("POST \(Self.path)/resolve", host: host, fields, body: body)
    }

    private static func write(_ signals: NativeSignals, to json: inout JSONWriter) {
        json.member("model", signals.model)
        if let machine = signals.machine { json.member("machine", machine) }
        json.member("osVersion", signals.osVersion)
        json.object("screen") { json in
            write("width", signals.screenWidth, to: &json)
            write("height", signals.screenHeight, to: &json)
        }
        if let scale = signals.scale { write("scale", scale, to: &json) }
        json.member("timezone", signals.timezone)
        json.member("language", signals.language)
        json.member("languages", signals.languages ?? [])
    }

    private static func testTime(_ time: Timestamp?) -> [(name: String, value: String)] {
        time.map { [("X-Test-Time", $0.iso8601)] } ?? []
    }

    private var browserFields: [(name: String, value: String)] {
        [
            ("User-Agent", profile.agent), ("Accept", "*/*"), ("Accept-Language", person.acceptLanguage),
            ("Accept-Encoding", "gzip, deflate, br"),
        ] + profile.fieldHints + [
            ("Origin", Self.page), ("Referer", Self.page + "/simulated"), ("Sec-Fetch-Site", "cross-site"),
        ]
    }

    /// The default agent of an app on the device.
    private var appAgent: String {
        guard device.platform == .ios else {
            return "Dalvik/2.1.0 (Linux; U; Android \(device.osVersion); \(device.model) Build/SIM1.\(build))"
        }
        let numbers = device.osVersion.split(separator: ".").compactMap { Int($0) }
        let (major, minor) = (numbers.first ?? 0, numbers.dropFirst().first ?? 0)
        // Darwin's number is iOS's number plus 6: iOS 17 has Darwin 23. iOS 26 follows iOS 18, so it has Darwin 25.
        let kernel = (major > 18 ? major - 7 : major) + 6
        let network = Self.networkVersions[major] ?? "3860.100.1"
        return "Simulated/\(build) CFNetwork/\(network) Darwin/\(kernel).\(min(minor, 6)).0"
    }

    /// The versions of CFNetwork by the major version of iOS; the server reads the system from `Darwin/` alone.
    private static let networkVersions = [16: "1410.1", 17: "1496.0.7", 18: "1568.300.101"]

    private var clickBody: String {
        JSONWriter.object { json in
            json.object("signals") { Self.write(signals, to: &$0) }
            switch destination {
            case .url(let url):
                json.member("deeplink_url", url)
                json.member("campaign_key", campaignKey)
            // A link has its own campaign, so the click names none.
            case .link(let slug): json.member("link", slug)
            }
            json.member("jid", journey)
            json.member("app", app)
            if poster == .server { json.member("user_agent", profile.agent) }
        }.text
    }

    private static func write(_ signals: DeviceSignals, to json: inout JSONWriter) {
        json.member("model", signals.model)
        json.member("osVersion", signals.osVersion)
        write("screenWidth", signals.screenWidth, to: &json)
        write("screenHeight", signals.screenHeight, to: &json)
        write("pixelRatio", signals.pixelRatio, to: &json)
        json.member("timezone", signals.timezone)
        json.member("language", signals.language)
        if let languages = signals.languages { json.member("languages", languages) }
        json.member("touchPoints", signals.touchPoints)
        json.member("uaModel", signals.uaModel)
        json.member("uaPlatformVersion", signals.uaPlatformVersion)
    }

    /// Writes a number as a browser's script does: a whole number without a decimal point.
    private static func write(_ name: String, _ number: Double?, to json: inout JSONWriter) {
        if let whole = number.flatMap({ Int(exactly: $0) }) {
            json.member(name, whole)
        } else {
            json.member(name, number)
        }
    }
}
