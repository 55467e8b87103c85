internal import Attribution

/// The items of a query that several admin calls understand.
extension Exchange {
    /// The app that `app` names by its id; nil without it.
    ///
    /// - Throws: 400 for what is no id, 404 where there is no such app.
    func appItem() throws(APIError) -> App? {
        guard let text = queryItem("app"), !text.isEmpty else { return nil }
        guard let id = AppID(text) else { throw .invalidField("app", "must be the id of an app, as app_…") }
        guard let app = directory.app(id) else { throw .noApp(field: "app") }
        return app
    }

    func campaignItem() throws(APIError) -> CampaignKey? {
        guard let text = queryItem("campaign"), !text.isEmpty else { return nil }
        guard let campaign = CampaignKey(text) else {
            throw .invalidField("campaign", "may have \(CampaignKey.maximumLength) characters at most")
        }
        return campaign
    }

    /// `from` and `to`, each a time or a date, whose first moment in UTC is meant; in whichever order they come, the
    /// time between them is.
    func rangeItems() throws(APIError) -> (from: Timestamp?, to: Timestamp?) {
        let (from, to) = (try timeItem("from"), try timeItem("to"))
        guard let from, let to else { return (from, to) }
        return (min(from, to), max(from, to))
    }

    /// `limit`: how many a page may hold.
    func limitItem(_ limits: ClosedRange<Int>, standard: Int) throws(APIError) -> Int {
        guard let text = queryItem("limit") else { return standard }
        guard let limit = Int(text), limits.contains(limit) else {
            throw .invalidField("limit", "must be a number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return limit
    }

    /// `test`: whether test traffic is asked for.
    func testItem() throws(APIError) -> Bool {
        switch queryItem("test") {
        case nil, "false", "0": return false
        case "true", "1": return true
        default: throw .invalidField("test", "must be true or false")
        }
    }

    private func timeItem(_ name: String) throws(APIError) -> Timestamp? {
        guard let text = queryItem(name), !text.isEmpty else { return nil }
        guard let time = Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "T00:00:00Z") else {
            throw .invalidField(
                name,
                "must be a date such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z"
            )
        }
        return time
    }
}
