internal import Attribution

/// Query parameters that several admin calls take; a malformed one throws a 400 that names it.
///
/// An empty parameter counts as not sent, except `limit` and `test`.
extension Exchange {
    /// Reads `app`, an app's id; without it, the only app that the request may see, or nil for all.
    ///
    /// - Throws: 400 for a text that is not an id, 404 for an unknown app.
    func appItem() throws(APIError) -> App? {
        guard let text = sentQueryItem("app") else { return onlyApp.flatMap(directory.app) }
        guard let id = AppID(text) else { throw .invalidField("app", "must be the id of an app, as app_…") }
        guard let app = directory.app(id) else { throw .noApp(field: "app") }
        return app
    }

    /// Reads `campaign`, a campaign key; nil without it.
    func campaignItem() throws(APIError) -> CampaignKey? {
        guard let text = sentQueryItem("campaign") else { return nil }
        guard let campaign = CampaignKey(text) else {
            throw .invalidField("campaign", "may have \(CampaignKey.maximumLength) characters at most")
        }
        return campaign
    }

    /// Reads `from` and `to`, each a time or a day in UTC; swaps them if `from` is later.
    func rangeItems() throws(APIError) -> (from: Timestamp?, to: Timestamp?) {
        let (from, to) = (try timeItem("from"), try timeItem("to"))
        guard let from, let to else { return (from, to) }
        return (min(from, to), max(from, to))
    }

    /// Reads `offset`, the whole hours by which each reported day begins before the day in UTC; 0 without it.
    func offsetItem() throws(APIError) -> Int64 {
        guard let text = sentQueryItem("offset") else { return 0 }
        guard let offset = App.Settings.reportingOffset(text) else {
            throw .invalidField("offset", "must be whole hours from -12 to 14")
        }
        return offset
    }

    /// Reads the parameter that limits the totals to one value of a dimension, such as `platform`; nil without one.
    ///
    /// - Parameter campaign: the campaign of the same query.
    /// - Returns: the value.
    /// - Throws: 400 if two such parameters are sent, or one that is not counted together with a campaign.
    func sliceItem(of campaign: CampaignKey?) throws(APIError) -> CountedValue? {
        let sent = CountedValue.words.compactMap { dimension, word in
            sentQueryItem(word).map { (word, CountedValue(dimension, $0)) }
        }
        guard let (word, slice) = sent.first else { return nil }
        guard sent.count == 1 else {
            throw .invalidField(sent[1].0, "cannot be combined with \(word), because no count has both")
        }
        guard campaign == nil || CountedValue.withinCampaigns.contains(slice.dimension) else {
            throw .invalidField(word, "cannot be combined with campaign, because no count has both")
        }
        return slice
    }

    /// Reads `limit`, the maximum number of entries in a page; `standard` without it.
    func limitItem(_ limits: ClosedRange<Int>, standard: Int) throws(APIError) -> Int {
        guard let text = queryItem("limit") else { return standard }
        guard let limit = Int(text), limits.contains(limit) else {
            throw .invalidField("limit", "must be a number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return limit
    }

    /// Reads `before`: the `next` of the previous page, an id such as `example`; nil without it.
    func pageItem<ID>(_ example: String, _ id: (String) -> ID?) throws(APIError) -> ID? {
        guard let text = sentQueryItem("before") else { return nil }
        guard let id = id(text) else {
            throw .invalidField("before", "must be the \"next\" of the previous page, such as \(example)")
        }
        return id
    }

    /// Reads a parameter that must be a raw value of `Value`; nil without it.
    func word<Value: RawRepresentable & CaseIterable>(_ name: String) throws(APIError) -> Value?
    where Value.RawValue == String {
        guard let text = sentQueryItem(name) else { return nil }
        guard let value = Value(rawValue: text) else {
            let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidField(name, "must be one of \(words)")
        }
        return value
    }

    /// Reads `test`: whether the call is about test traffic; false without it.
    func testItem() throws(APIError) -> Bool {
        switch queryItem("test") {
        case nil, "false", "0": return false
        case "true", "1": return true
        default: throw .invalidField("test", "must be true or false")
        }
    }

    /// Refuses query parameters that are given twice, or that the call does not take.
    ///
    /// If a call ignored a mistyped filter, it would list everything.
    ///
    /// - Throws: 400 that names up to ten such parameters. For each unknown one, it suggests the nearest name that the
    ///   call takes, or lists all names if none is near.
    func checkQueryNames(_ known: [String]) throws(APIError) {
        var seen: Set<String> = []
        let wrong = queryItems.map(\.name).filter { !known.contains($0) || !seen.insert($0).inserted }
        let problems = wrong.prefix(Self.maximumReportedNames).map { name in
            guard !known.contains(name) else { return FieldProblem.repeated(name) }
            let nearest = Suggestion.nearest(to: name, among: known)
            let advice =
                nearest.map { "did you mean \"\($0)\"?" }
                ?? (known.isEmpty ? "it takes none" : "it takes \(known.joined(separator: ", "))")
            let shown = String(name.prefix(Self.maximumShownLength))
            return FieldProblem(shown, "This call takes no query parameter \"\(shown)\"; \(advice)")
        }
        guard problems.isEmpty else { throw .invalidItems(problems) }
    }

    private static let maximumReportedNames = 10
    private static let maximumShownLength = 64

    /// Reads a time or a day in UTC; nil without it.
    func timeItem(_ name: String) throws(APIError) -> Timestamp? {
        guard let text = sentQueryItem(name) else { return nil }
        guard let time = Timestamp(iso8601: text) ?? Timestamp(iso8601: text + "T00:00:00Z") else {
            let rule = "must be a date such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z"
            throw .invalidField(name, rule)
        }
        return time
    }
}
