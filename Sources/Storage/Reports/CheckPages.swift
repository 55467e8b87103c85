public import Attribution

/// The apps whose checks are read, by scope.
public struct CheckedApps: Sendable {
    private var owners: [Scope: (app: AppID, isTest: Bool)] = [:]

    public init() {}

    public mutating func add(_ app: AppID, isTest: Bool, _ scope: Scope) {
        owners[scope] = (app, isTest)
    }

    /// The check of a row; nil where its app is not known yet.
    func check(_ row: JoinedCheck) -> RecordedCheck? {
        guard let owner = owners[row.record.scope] else { return nil }
        return RecordedCheck(
            id: row.record.id,
            app: owner.app,
            isTest: owner.isTest,
            facts: row.record.facts,
            campaign: row.campaign
        )
    }

    /// Nil for one of an app that is not known yet.
    func owner(of scope: Scope) -> (app: AppID, isTest: Bool)? { owners[scope] }
}

extension ReportReader {
    /// Walks back through the records of checks.
    public func page(_ query: CheckQuery, of apps: CheckedApps) throws(Failure) -> CheckPage {
        let end = query.to?.advanced(byMilliseconds: CheckPageBounds.leeway)
        var page = CheckPage()
        var (count, last) = (0, nil as CheckID?)
        try checks(before: query.before, within: (query.from, end), atMost: CheckPageBounds.scanned) { row in
            count += 1
            last = row.record.id
            guard let record = apps.check(row), query.matches(record) else { return true }
            page.records.append(record)
            return page.records.count < query.limit
        }
        // There may be more before the last one that was looked at.
        if count == CheckPageBounds.scanned || page.records.count == query.limit { page.next = last }
        return page
    }
}

private enum CheckPageBounds {
    /// Records that one call looks at.
    static let scanned = 20_000
    /// How far an identifier may be ahead of its check: where the clock was set back, and records order by arrival.
    static let leeway: Int64 = 86_400_000
}
