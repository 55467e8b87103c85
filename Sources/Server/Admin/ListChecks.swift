internal import Attribution
internal import HTTPServer
internal import JSON

/// `GET /admin/api/checks`: lists the recorded checks, newest first.
enum ListChecks {
    static func respond(_ exchange: inout Exchange, _ context: LoopContext) async throws(APIError) -> Response
    {
        let query = try self.query(exchange, context.keys)
        let page = try await exchange.store(await context.stores.checks.checks(query))
        var json = JSONWriter()
        json.object { json in
            json.member("checks") { json in
                json.array { json in for record in page.records { CheckBody(record).write(to: &json) } }
            }
            json.member("next", orNull: page.next?.text)
        }
        return Response(.ok, json: json)
    }

    private static func query(_ exchange: Exchange, _ keys: Keyring) throws(APIError) -> CheckQuery {
        var query = CheckQuery(
            isTest: try exchange.testItem(),
            limit: try exchange.limitItem(CheckQuery.limits, standard: CheckQuery.standardLimit)
        )
        query.app = try exchange.appItem()?.id
        query.campaign = try exchange.campaignItem()
        (query.from, query.to) = try exchange.rangeItems()
        query.outcome = try word("outcome", exchange)
        query.reason = try word("reason", exchange)
        if let text = exchange.queryItem("fingerprint") {
            guard let fingerprint = Fingerprint(hex: text) else { throw .invalidFingerprint }
            query.fingerprints = keys.keyed(fingerprint)
        }
        if let text = exchange.queryItem("before"), !text.isEmpty {
            guard let id = CheckID(text) else {
                throw .invalidField("before", "must be the \"next\" of the page before, as chk_…")
            }
            query.before = id
        }
        return query
    }

    /// Reads a parameter that must be one of a type's words.
    private static func word<Value: RawRepresentable & CaseIterable>(
        _ name: String,
        _ exchange: Exchange
    ) throws(APIError) -> Value? where Value.RawValue == String {
        guard let text = exchange.queryItem(name), !text.isEmpty else { return nil }
        guard let value = Value(rawValue: text) else {
            throw .invalidField(
                name,
                "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return value
    }
}
