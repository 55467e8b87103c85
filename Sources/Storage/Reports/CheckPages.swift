public import Attribution

/// The records of checks, as a database reads them.
public protocol CheckRows: NumberedRowReader {
}

/// A check's record, with the campaign of the click that it credits, or, without a match, of the most likely click.
public struct JoinedCheck: Sendable {
    public let record: CheckRecord
    public let campaign: CampaignKey?
    /// The time of the click.
    public let clickedAt: Timestamp?

    /// The columns of the click, after those of the record.
    public static let columns: Columns = ["id_low", "campaign_key", "clicked_at"]

    /// - Parameters:
    ///   - record: the row, which contains only the first half of the click's identifier.
    ///   - row: the values of ``columns``, which come next.
    public init(_ record: CheckRecord, _ row: inout some RowReader) {
        var record = record
        let low: UInt64 = row.get("id_low")
        if let click = record.facts.click { record.facts.click = ClickID(high: click.high, low: low) }
        self.record = record
        campaign = (row.get("campaign_key") as String?).flatMap { CampaignKey($0) }
        clickedAt = row.get("clicked_at")
    }

    /// The row's number.
    public var number: Int64 { Int64(bitPattern: record.id.high) }
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

    /// Waits until all pending updates are on disk, unless they cannot be written now; returns the apps by scope.
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
    /// Returns the record whose identifier has this first half.
    func check(_ number: UInt64) throws(Failure) -> JoinedCheck? {
        let number = Int64(bitPattern: number)
        var found: JoinedCheck?
        try checks(NumberedRows(.ascending, after: number &- 1, through: number, limit: 1)) {
            found = $0
            return false
        }
        return found
    }

    /// Returns one page of the checks of these apps that match a query, newest first.
    fileprivate func page(_ query: CheckQuery, of apps: CheckedApps) throws(Failure) -> CheckPage {
        var end = query.before.map { Int64(clamping: $0.high) } ?? .max
        if let to = query.to?.advanced(byMilliseconds: identifierLeeway) {
            end = min(end, RowIdentifier.first(at: to))
        }
        let first = query.from.map(RowIdentifier.first(at:)) ?? 0
        let rows = NumberedRows(.descending, after: first - 1, through: end - 1)
        var walk = PageWalk<RecordedCheck, CheckID>(limit: query.limit, rowLimit: 20_000)
        try checks(rows) { row in
            let check = apps.check(row).flatMap { query.matches($0) ? $0 : nil }
            return walk.add(check, at: row.record.id)
        }
        return CheckPage(records: walk.elements, next: walk.next)
    }
}

/// How far an identifier may be ahead of its check, in milliseconds: identifiers follow the order of writing, and a clock
/// may be set back.
private let identifierLeeway: Int64 = 86_400_000
