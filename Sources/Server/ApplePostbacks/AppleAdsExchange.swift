internal import Attribution
public import HTTPServer
internal import JSON
internal import Threads

/// Exchanges attribution tokens for attributions with Apple Ads.
///
/// A token is held only in memory, and only during its exchange.
public final class AppleAdsExchange: Sendable {
    /// Apple's response about a token.
    enum Outcome: Sendable {
        case attributed(AppleAdsAttribution, body: String)
        case organic
        case invalid
        /// Apple has no record yet, or the token is too old.
        case missing
        case unavailable
    }

    private let outgoing: OutgoingRequests
    private let address: WebURL?
    private let pause: Duration
    private static let maximumTries = 3

    /// - Parameters:
    ///   - client: the client that calls Apple.
    ///   - address: the address of Apple's service; only tests pass another one.
    ///   - pause: the pause between two tries for a token of which Apple has no record yet.
    ///   - maximumConcurrentCount: the maximum number of exchanges under way; only tests pass another one.
    public init(
        _ client: HTTPSClient = OutgoingRequests.publicOnly(),
        address: String = "https://api-adservices.apple.com/api/v1/",
        pause: Duration = .seconds(5),
        maximumConcurrentCount: Int = 32
    ) {
        // The calls wait on threads of their own; while all are in use, a client is asked to retry later.
        outgoing = OutgoingRequests(client, maximumConcurrentCount: maximumConcurrentCount)
        self.address = try? WebURL(parsing: address)
        self.pause = pause
    }

    /// Exchanges a token; does not block the event loop.
    ///
    /// - Returns: nil if too many exchanges are under way.
    func outcome(of token: String) async -> Outcome? {
        guard let address,
            let request = HTTPSRequest(
                host: address.host,
                port: address.port ?? 443,
                .post,
                address.target,
                fields: [FieldLine(name: "Content-Type", value: "text/plain")],
                body: Array(token.utf8)
            )
        else { return .invalid }
        let pause = pause
        return await outgoing.perform { client in
            var outcome = Outcome.missing
            for number in 1...Self.maximumTries {
                outcome = Self.outcome(of: request, by: client)
                guard case .missing = outcome, number < Self.maximumTries else { break }
                let end = MonotonicTime.now().advanced(by: pause)
                _ = ConditionLock(()).wait(until: end.nanoseconds) { _ in nil as Void? }
            }
            return outcome
        }
    }

    private static func outcome(of request: HTTPSRequest, by client: HTTPSClient) -> Outcome {
        guard let response = try? client.send(request) else { return .unavailable }
        switch response.status {
        case 200: break
        case 400: return .invalid
        case 404: return .missing
        default: return .unavailable
        }
        guard let object = (try? JSONValue(parsing: response.body))?.object,
            let isAttributed = object["attribution"]?.bool
        else { return .unavailable }
        guard isAttributed else { return .organic }
        return .attributed(AppleAdsAttribution(object), body: String(decoding: response.body, as: UTF8.self))
    }
}

/// An attribution by Apple Ads, with each number as the digits that Apple's JSON contains.
struct AppleAdsAttribution: Sendable {
    /// Each text with its name in the response to clients.
    let fields: [(name: String, text: String)]

    private static let names = [
        ("org_id", "orgId"), ("campaign_id", "campaignId"), ("ad_group_id", "adGroupId"),
        ("keyword_id", "keywordId"), ("ad_id", "adId"), ("conversion_type", "conversionType"),
        ("claim_type", "claimType"), ("country_or_region", "countryOrRegion"), ("click_date", "clickDate"),
    ]

    init(_ object: JSONObject) {
        fields = Self.names.compactMap { name, apple in
            (object[apple]?.string ?? object[apple]?.number?.text).map { (name, $0) }
        }
    }

    subscript(name: String) -> String? { fields.first { $0.name == name }?.text }

    func write(to json: inout JSONWriter) {
        json.member("attribution", true)
        for (name, text) in fields { json.member(name, text) }
    }

    /// Returns the attribution as a row of the table of Apple's postbacks.
    func postback(of app: App, id: String) -> ApplePostback {
        let network = ApplePostback.Framework.appleAds.rawValue
        let item = app.appleItems.first ?? app.id.text
        var postback = ApplePostback(.appleAds, network: network, item: item, id: id)
        postback.source = self["campaign_id"]
        postback.conversionType = self["conversion_type"]?.lowercased()
        postback.interaction = self["claim_type"].map { $0 == "Impression" ? "view" : "click" }
        postback.country = self["country_or_region"]
        return postback
    }
}

/// `POST /v1/apple-ads/attribution`: exchanges the attribution token of a newer client.
///
/// After a response with a final status, the client makes no further attempt. If the response has `retry_after_seconds`
/// instead, the client asks again after that time. The service neither stores nor logs the token.
enum AttributeAppleAds {
    /// Tokens are valid for a day.
    private static let tokenMilliseconds: Int64 = 86_400_000
    private static let retrySeconds: Int64 = 300

    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        // A client with an invalid API key is not refused, because the response must be final.
        let key = try? exchange.findKey(for: .anyoneOrKey([.app, .server, .test]))
        guard let key, let app = key.app.flatMap(exchange.directory.app) else { return final("unsupported") }
        exchange.app = app.id
        guard app.settings.links.apple.usesAppleAds,
            let object = (try? JSONValue(parsing: exchange.request.body))?.object,
            object["unsupported"]?.bool != true
        else { return final("unsupported") }
        guard let token = object["token"]?.string, (1...4096).contains(token.utf8.count) else {
            return final("invalid")
        }
        if let issued = object["token_issued_at"]?.int64,
            exchange.now.milliseconds(since: Timestamp(milliseconds: issued)) > tokenMilliseconds
        {
            return final("expired")
        }
        switch await exchange.service.settings.appleAds.outcome(of: token) {
        case .attributed(let attribution, let body):
            // The id depends on the device, because the device's further tokens describe the same installation.
            let device = object["device_id"]?.string ?? token
            let id = Base64URL.text(of: Array(KeyDigest(of: "\(app.id.text) \(device)").bytes.prefix(24)))
            let stored = StoredApplePostback(
                attribution.postback(of: app, id: id),
                .valid,
                key.kind == .test ? .development : .production,
                receivedAt: exchange.now,
                body: body
            )
            _ = try await exchange.store(await exchange.stores.applePostbacks.store(stored))
            exchange.outcome = "attributed"
            return Response(.ok) { json in
                json.member("status", "attributed")
                json.object("attribution") { attribution.write(to: &$0) }
            }
        case .organic: return final("organic")
        case .invalid: return final("invalid")
        case .missing, .unavailable, nil:
            return Response(.ok) { json in
                json.member("status", "pending")
                json.member("retry_after_seconds", retrySeconds)
            }
        }
    }

    private static func final(_ status: String) -> Response { Response(.ok) { $0.member("status", status) } }
}
