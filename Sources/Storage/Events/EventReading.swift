public import Attribution

/// Computes a report of events from counts.
struct EventReader<Reader: ReportReader> {
    let reader: Reader
    let query: EventQuery
    let scopes: [Scope]
    /// The spellings of the query's campaign; an empty text if it has none.
    private let spellings: [String]

    init(reader: Reader, query: EventQuery, scopes: [Scope]) throws(Reader.Failure) {
        (self.reader, self.query, self.scopes) = (reader, query, scopes)
        spellings = try reader.spellings(of: [query.span.campaign?.text ?? ""], in: scopes)
    }

    /// The maximum number of campaigns, and of links, in a report.
    private static var groupLimit: Int { 100 }
    /// The maximum number of days with a cohort.
    private static var cohortLimit: Int { 31 }
    /// The maximum number of counts of clicks that are read to find the groups.
    private static var clickLimit: Int { 10_000 }
    /// The maximum number of clicked names whose other counts are read to find the groups.
    private static var nameLimit: Int { 500 }

    func report() throws(Reader.Failure) -> EventReport {
        var report = EventReport()
        report.totals = EventSums(try reader.sum(counts(.event)))
        report.matches = try reader.sum(counts(.total)).counts()[.matches] ?? 0
        guard query.hasGroups else { return report }
        report.cohorts = try cohorts()
        guard query.span.campaign == nil else { return report }
        report.byCampaign = try groups(.campaign, .event)
        report.byLink = try groups(.link, .eventLink)
        report.bySource = try sources()
        return report
    }

    /// Returns a query for the counts of a dimension, by default over the query's span.
    private func counts(_ dimension: Dimension, over spans: [CountedSpans]? = nil) -> CountQuery {
        let spans = spans ?? query.span.spans
        return CountQuery(scopes: scopes, campaigns: spellings, dimension: dimension, spans: spans)
    }

    func sums(of groups: EventGroups) throws(Reader.Failure) -> [String: EventSums] {
        let counts =
            switch groups {
            case .campaigns(let names):
                try reader.sums(counts(.event), of: reader.spellings(of: names, in: scopes))
            case .links(let names): try reader.sums(counts(.eventLink), of: names)
            }
        return counts.mapValues { EventSums($0) }.filter { !$0.value.isEmpty }
    }

    /// Returns the campaigns or links with events or matches; the most clicked ones come first.
    ///
    /// Names can be ranked by their clicks without reading any other count. So the function reads the other counts of
    /// the most clicked names first, until the report has its maximum number of groups.
    private func groups(_ names: Dimension, _ dimension: Dimension) throws(Reader.Failure) -> [EventReport
        .Group]
    {
        let span = query.span.spans
        var clicked = try reader.clicks(names, of: scopes, over: span, atMost: Self.clickLimit).names
        // Events of a span may belong to campaigns and links that have no clicks in the span.
        var whole = query.span
        (whole.from, whole.to) = (nil, nil)
        clicked.addNames(
            of: try reader.clicks(names, of: scopes, over: whole.spans, atMost: Self.groupLimit).names
        )
        let found = clicked.clicks.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let totals: Dimension = names == .link ? .link : .total
        // The names without clicks come last and are few.
        var rest = (found.prefix { $0.value > 0 }.prefix(Self.nameLimit) + found.drop { $0.value > 0 })[...]
        var groups: [EventReport.Group] = []
        while !rest.isEmpty, groups.count < Self.groupLimit {
            let part = rest.prefix(Self.groupLimit).map(\.key)
            rest = rest.dropFirst(part.count)
            let spellings = clicked.spellings(of: part)
            let events = try reader.sums(counts(dimension), of: spellings)
            let all = try reader.sums(counts(totals), of: spellings)
            groups += part.compactMap { name in
                let matches = all[name]?.counts()[.matches] ?? 0
                let sums = EventSums(events[name] ?? CountSum())
                guard matches > 0 || !sums.isEmpty else { return nil }
                return EventReport.Group(name: name, matches: matches, sums: sums)
            }
        }
        return Array(groups.prefix(Self.groupLimit))
    }

    private func sources() throws(Reader.Failure) -> [EventReport.Group] {
        let (counts, matches) = (try reader.sum(counts(.eventSource)), try reader.sum(counts(.source)))
        let groups = SourceToken.allCases.map { token in
            let prefix = "\(token.rawValue) "
            var sums = EventSums()
            for value in counts.values where value.hasPrefix(prefix) {
                sums.add(counts, of: value, as: String(value.dropFirst(prefix.count)))
            }
            // Events are counted by token alone. So the matches of a source without a token count under `unknown`.
            let names = matches.values.filter { (SourceToken(rawValue: $0) ?? .unknown) == token }
            let own = names.reduce(0) { $0 + (matches.counts(of: $1)[.matches] ?? 0) }
            return EventReport.Group(name: token.rawValue, matches: own, sums: sums)
        }
        return groups.filter { $0.matches > 0 || !$0.sums.isEmpty }
    }

    /// Returns the cohorts of the newest days of the span that have matches.
    private func cohorts() throws(Reader.Failure) -> [EventReport.Cohort] {
        var query = query.span
        (query.interval, query.offset) = (.day, 0)
        let (first, end) = query.range
        var matches: [Timestamp: Int64] = [:]
        let span = CountedSpans(.day, from: first, before: end)
        try reader.series(counts(.total, over: [span])) { day, _, metric, count in
            if metric == Metric.matches.name { matches[day, default: 0] += count }
        }
        let days = matches.keys.sorted(by: >).prefix(Self.cohortLimit)
        guard let newest = days.first, let oldest = days.last else { return [] }
        var counts: [Timestamp: CountSum] = [:]
        let shown = CountedSpans(.day, from: oldest, before: newest.advanced(byMilliseconds: 1))
        try reader.series(self.counts(.cohort, over: [shown])) { day, value, metric, count in
            counts[day, default: CountSum()].add(count, metric, of: value)
        }
        return days.map { day in
            let counts = counts[day] ?? CountSum()
            let sums = EventCount.cohortDays.map { last in
                var sums = EventSums()
                for value in counts.values {
                    guard let parts = EventCount.cohortParts(value), parts.day <= last else { continue }
                    sums.add(counts, of: value, as: parts.value)
                }
                return sums
            }
            return EventReport.Cohort(day: day, matches: matches[day] ?? 0, sums: sums)
        }
    }
}

extension EventSums {
    fileprivate init(_ counts: CountSum) {
        self.init()
        for value in counts.values { add(counts, of: value, as: value) }
    }

    fileprivate mutating func add(_ counts: CountSum, of value: String, as own: String) {
        for (metric, count) in counts.counts(at: value) { add(count, metric, of: own) }
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func record(_ batch: EventBatch) async throws(StoreError) -> [EventOutcome] {
        guard case .events(let outcomes) = try await loop.write(.events(batch)) else { throw .mismatch }
        return outcomes
    }

    public func events(_ query: EventQuery) async throws(StoreError) -> EventReport {
        let scopes = try await scopes(of: query)
        let isLong = LoopState<Backend>.isLong(appCount: scopes.count)
        return try await loop.readReport(isLong: isLong) { reader throws(Backend.Reader.Failure) in
            try EventReader(reader: reader, query: query, scopes: scopes).report()
        }
    }

    public func eventSums(of groups: EventGroups, _ query: EventQuery) async throws(StoreError)
        -> [String: EventSums]
    {
        let scopes = try await scopes(of: query)
        let isLong = LoopState<Backend>.isLong(appCount: scopes.count)
        return try await loop.readReport(isLong: isLong) { reader throws(Backend.Reader.Failure) in
            try EventReader(reader: reader, query: query, scopes: scopes).sums(of: groups)
        }
    }

    private func scopes(of query: EventQuery) async throws(StoreError) -> [Scope] {
        await loop.flushUpdatesIfPossible()
        var scopes: [Scope] = []
        let all = try loop.directory().apps.map(\.id)
        for app in query.span.app.map({ [$0] }) ?? all {
            if let scope = try loop.scope(of: app, isTest: query.span.isTest) { scopes.append(scope) }
        }
        return scopes
    }
}
