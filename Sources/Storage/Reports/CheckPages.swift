public import Attribution

/// The records of checks, as a database reads them.
public protocol CheckRows {
    associatedtype Failure: Error

    /// Passes records to `body`, newest first, until `body` returns false.
    ///
    /// - Parameters:
    ///   - id: only records older than this one are read; nil to start with the newest record.
    ///   - times: the bounds of the time of writing, which identifiers contain: the first is included, the
    ///     second is not; nil is no bound.
    ///   - body: returns whether to read another record.
    /// - Throws: if the database cannot be read.
    func checks(
        before id: CheckID?,
        within times: (from: Timestamp?, to: Timestamp?),
        _ body: (JoinedCheck) -> Bool
    ) throws(Failure)
    /// Returns the record whose identifier has this first half.
    func check(_ number: UInt64) throws(Failure) -> JoinedCheck?
}

/// A check's record, with the campaign of the click that it credits, or, without a match, of the most likely click.
public struct JoinedCheck: Sendable {
    public let record: CheckRecord
    public let campaign: CampaignKey?

    /// - Parameters:
    ///   - record: the row, which contains only the first half of the click's identifier.
    ///   - clickLow: the second half.
    ///   - campaign: the click's campaign key.
    public init(_ record: CheckRecord, clickLow: UInt64, campaign: String?) {
        var record = record
        if let click = record.facts.click { record.facts.click = ClickID(high: click.high, low: clickLow) }
        self.record = record
        self.campaign = campaign.flatMap { CampaignKey($0) }
    }
}

/// The apps whose checks are read, by scope.
struct CheckedApps: Sendable {
    private var owners: [Scope: (app: AppID, isTest: Bool)] = [:]

    mutating func add(_ app: AppID, isTest: Bool, _ scope: Scope) { owners[scope] = (app, isTest) }

    /// Returns the check of a row; nil if its app was created after the apps were read.
    func check(_ row: JoinedCheck) -> RecordedCheck? {
        guard let owner = owners[row.record.scope] else { return nil }
        let (id, app, isTest, facts) = (row.record.id, owner.app, owner.isTest, row.record.facts)
        return RecordedCheck(id: id, app: app, isTest: isTest, facts: facts, campaign: row.campaign)
    }

    /// Returns the app of a scope; nil if the app was created after the apps were read.
    func owner(of scope: Scope) -> (app: AppID, isTest: Bool)? { owners[scope] }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func checks(_ query: CheckQuery) async throws(StoreError) -> CheckPage {
        let apps = try await checkedApps()
        return try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
            try reader.page(query, of: apps)
        }
    }

    /// Waits until all pending updates are on disk, and returns the apps by their scopes.
    func checkedApps() async throws(StoreError) -> CheckedApps {
        await loop.flushUpdatesIfPossible()
        var apps = CheckedApps()
        for app in try loop.directory().apps {
            for isTest in [false, true] {
                if let scope = try loop.scope(of: app.id, isTest: isTest) {
                    apps.add(app.id, isTest: isTest, scope)
                }
            }
        }
        return apps
    }
}

extension CheckRows {
    /// Returns one page of the checks of these apps that match a query, newest first.
    fileprivate func page(_ query: CheckQuery, of apps: CheckedApps) throws(Failure) -> CheckPage {
        let end = query.to?.advanced(byMilliseconds: identifierLeeway)
        var walk = PageWalk<RecordedCheck, CheckID>(limit: query.limit, rowLimit: 20_000)
        try checks(before: query.before, within: (query.from, end)) { row in
            let check = apps.check(row).flatMap { query.matches($0) ? $0 : nil }
            return walk.add(check, at: row.record.id)
        }
        return CheckPage(records: walk.elements, next: walk.next)
    }
}

/// How far an identifier may be ahead of its check, in milliseconds: identifiers follow the order of writing, and a clock
/// may be set back.
private let identifierLeeway: Int64 = 86_400_000
