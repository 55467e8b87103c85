public import Attribution
internal import HTTPServer
public import JSON

/// The admin API's calls on Apple's postbacks.
enum ApplePostbackEndpoints {
    static let items = [
        "app", "framework", "network", "verification", "environment", "from", "to", "limit", "before",
    ]

    /// `GET /admin/api/apple-postbacks`: lists received postbacks, newest first.
    static func list(_ exchange: inout Exchange) async throws(APIError) -> Response {
        var query = ApplePostbackQuery(
            limit: try exchange.limitItem(
                ApplePostbackQuery.limits,
                standard: ApplePostbackQuery.standardLimit
            )
        )
        query.items = try exchange.appItem().map { Set($0.appleItems) }
        query.framework = try exchange.word("framework")
        query.network = exchange.sentQueryItem("network")
        query.verification = try exchange.word("verification")
        query.environment = try exchange.word("environment")
        (query.from, query.to) = try exchange.rangeItems()
        query.before = try exchange.pageItem("118264581564989440") { Int64($0) }
        let page = try await exchange.store(await exchange.stores.applePostbacks.applePostbacks(query))
        let apps = AppleApps(exchange.directory)
        return Response(.ok) { ApplePostbackBody.write(page, apps, to: &$0) }
    }

    /// `POST /admin/api/apple-postbacks/verify`: verifies a postback, which is the body, and stores nothing.
    static func verify(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let object = try JSONBody(ofAdmin: exchange.request).members
        let signed = try ApplePostbackJSON.read(object, nil)
        let apps = AppleApps(exchange.directory)
        let now = exchange.now
        return Response(.ok) { ApplePostbackBody.write(signed, apps, at: now, to: &$0) }
    }
}

/// The apps by their ``App/appleItems``, with the meanings of their conversion values.
public struct AppleApps {
    private var apps: [String: (app: App, schemas: ConversionSchemas)] = [:]

    public init(_ directory: Directory) {
        for app in directory.apps {
            let schemas = ConversionSchemas(app.settings.conversionSchemas)
            for item in app.appleItems where apps[item] == nil { apps[item] = (app, schemas) }
        }
    }

    /// Returns the first app that has `item` among its ``App/appleItems``; nil if no app has it.
    public func app(_ item: String) -> App? { apps[item]?.app }

    /// Returns whether reports on live traffic count a postback.
    public func counts(_ stored: StoredApplePostback) -> Bool {
        stored.isCounted && stored.environment.isCounted(for: app(stored.postback.item))
    }

    /// Returns the meaning of a postback's conversion value by the schema in force at a time; nil if it is unknown.
    public func meaning(of postback: ApplePostback, at time: Timestamp) -> String? {
        apps[postback.item]?.schemas.inForce(at: time)?.meaning(of: postback)
    }

    /// The times at which the meanings of any app's conversion values change.
    var changes: [Timestamp] { apps.values.flatMap { $0.schemas.all.map(\.since) } }
}

/// The JSON form of Apple's postbacks.
public enum ApplePostbackBody {
    public static func write(_ page: ApplePostbackPage, _ apps: AppleApps, to json: inout JSONWriter) {
        json.objects("postbacks", page.postbacks) { json, stored in
            json.member("received_at", stored.receivedAt.iso8601)
            json.member("app", orNull: apps.app(stored.postback.item)?.id.text)
            json.member("verification", stored.verification.rawValue)
            json.member("environment", stored.environment.rawValue)
            json.member("counted", apps.counts(stored))
            stored.postback.write(to: &json)
            json.member("event", apps.meaning(of: stored.postback, at: stored.receivedAt))
        }
        json.member("next", orNull: page.next.map { String($0) })
    }

    /// Writes a postback that is not stored.
    public static func write(
        _ signed: SignedApplePostback,
        _ apps: AppleApps,
        at now: Timestamp,
        to json: inout JSONWriter
    ) {
        json.member("app", orNull: apps.app(signed.postback.item)?.id.text)
        json.member("verification", signed.verification.rawValue)
        json.member("environment", signed.environment.rawValue)
        signed.postback.write(to: &json)
        json.member("event", apps.meaning(of: signed.postback, at: now))
    }

    /// Returns a conversion value as a word.
    public static func value(of postback: ApplePostback) -> String {
        guard postback.didWin else { return "not won" }
        guard !postback.withholdsValue else { return "withheld by Apple" }
        return postback.fineValue.map { "value \($0)" } ?? postback.coarseValue?.rawValue ?? ""
    }
}
