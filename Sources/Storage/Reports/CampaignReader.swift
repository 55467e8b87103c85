public import Attribution

/// Computes a page of campaigns from counts, at a cost that does not grow with the number of campaigns and days.
private struct CampaignReader<Reader: ReportReader> {
    let reader: Reader
    let query: CampaignQuery
    /// The scopes of the query's apps.
    let scopes: [Scope]

    func page() throws(Reader.Failure) -> CampaignPage {
        var page = CampaignPage()
        let (spans, limit) = (query.counts.daySpans, CampaignQuery.readLimit)
        let (clicked, isPartial) = try reader.clicks(.campaign, of: scopes, over: spans, atMost: limit)
        page.isPartial = isPartial
        let search = query.search?.asciiLowercased
        let found = clicked.clicks.filter { name, _ in search.map(name.asciiLowercased.contains) ?? true }
        var names = found.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        switch query.order {
        case .clicks: break
        case .name: names.sort()
        case .matches, .rate, .expected:
            page.isPartial = page.isPartial || names.count > CampaignQuery.rankedLimit
            names = try ranked(Array(names.prefix(CampaignQuery.rankedLimit)), clicked)
        }
        page.count = names.count
        let (start, overflows) = query.page.multipliedReportingOverflow(by: CampaignQuery.pageSize)
        guard !overflows, names.indices.contains(start) else { return page }
        let shown = Array(names[start..<min(start + CampaignQuery.pageSize, names.count)])
        let spellings = clicked.spellings(of: shown)
        let counts = try sums(.total, of: spellings, query.counts)
        let times = try sums(.timeToInstall, of: spellings, query.counts)
        var earlier: [String: CountSum]?
        if let span = query.earlier { earlier = try sums(.total, of: spellings, span) }
        page.rows = shown.map { name in
            CampaignPage.Row(
                name: name,
                counts: counts[name]?.counts() ?? [:],
                expected: counts[name]?.expected() ?? .zero,
                timeToInstall: times[name]?.timeToInstall ?? TimeToInstallHistogram(),
                earlier: earlier.map { $0[name]?.counts() ?? [:] }
            )
        }
        return page
    }

    private func ranked(_ names: [String], _ clicked: ClickedNames) throws(Reader.Failure) -> [String] {
        let spellings = clicked.spellings(of: names)
        let values = try sums(.total, of: spellings, query.counts).mapValues { sum -> Double in
            let (counts, expected) = (sum.counts(), sum.expected())
            let (clicks, matches) = (Double(counts[.clicks] ?? 0), Double(counts[.matches] ?? 0))
            switch query.order {
            case .rate: return clicks > 0 ? matches / clicks : -1
            case .expected: return expected.count
            case .matches, .clicks, .name: return matches
            }
        }
        return names.sorted { (values[$1] ?? 0, $0) < (values[$0] ?? 0, $1) }
    }

    private func sums(_ dimension: Dimension, of campaigns: [String], _ query: StatisticsQuery)
        throws(Reader.Failure) -> [String: CountSum]
    {
        try reader.sums(
            CountQuery(scopes: scopes, dimension: dimension, spans: query.daySpans),
            of: campaigns
        )
    }
}

extension StatisticsRows {
    /// Returns the clicks of the most clicked campaigns or links of each span, by their names.
    ///
    /// - Parameters:
    ///   - dimension: campaigns or links.
    ///   - scopes: the apps' traffic.
    ///   - spans: the time.
    ///   - limit: the maximum number of counts to read. Each span has an equal part of it, and at least a hundred.
    /// - Returns: the clicks, and whether the limit has left out names.
    /// - Throws: the failure of the database.
    func clicks(_ dimension: Dimension, of scopes: [Scope], over spans: [CountedSpans], atMost limit: Int)
        throws(Failure) -> (names: ClickedNames, isPartial: Bool)
    {
        // A query without bounds has a very large number of four-week spans, so at most 60 of them (nearly five years)
        // count.
        let count = spans.reduce(0) { $0 + min($1.count, 60) } * Int64(scopes.count)
        let part = max(100, limit / max(Int(count), 1))
        var (names, isPartial) = (ClickedNames(), false)
        for (scope, spans) in scopes.flatMap({ scope in spans.map { (scope, $0) } }) {
            let top = try self.top(dimension, of: scope, over: spans, atMost: part)
            // A span that the limit has cut has as many names as the limit.
            isPartial = isPartial || Set(top.map(\.name)).count >= part
            for (name, count) in top { names.add(name, count) }
        }
        return (names, isPartial)
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func campaigns(_ query: CampaignQuery) async throws(StoreError) -> CampaignPage {
        await loop.flushUpdatesIfPossible()
        var scopes: [Scope] = []
        let all = try loop.directory().apps.map(\.id)
        for app in query.counts.app.map({ [$0] }) ?? all {
            if let scope = try loop.scope(of: app, isTest: query.counts.isTest) { scopes.append(scope) }
        }
        let isLong = LoopState<Backend>.isLong(appCount: scopes.count)
        return try await loop.readReport(isLong: isLong) { [scopes] reader throws(Backend.Reader.Failure) in
            try CampaignReader(reader: reader, query: query, scopes: scopes).page()
        }
    }

    public func matchRates(of app: AppID, days: Int, at now: Timestamp) async throws(StoreError)
        -> DriftHistory
    {
        await loop.flushUpdatesIfPossible()
        let end = DriftHistory.end(at: now)
        guard let scope = try loop.scope(of: app, isTest: false) else { return DriftHistory(end: end) }
        return try await loop.readReport { reader throws(Backend.Reader.Failure) in
            let first = end.advanced(byMilliseconds: -Int64(days) * 86_400_000)
            return try reader.driftHistory(of: scope, from: first, end: end)
        }
    }

    public func runningServers() async throws(StoreError) -> [RunningServer] {
        try await loop.readReport { reader throws(Backend.Reader.Failure) in try reader.runningServers() }
    }
}
