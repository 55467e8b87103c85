internal import Attribution

/// A page of an export that gathers rows until it is full.
struct PageBuilder {
    let query: ExportQuery
    private(set) var page = ExportPage()
    private let apps: [Int64: AppID]
    /// The apps by their ``App/appleItems``.
    private let items: [String: App]
    /// The number of rows of other apps that the page has left out.
    private var excludedCount = 0

    /// A page ends after this many rows of other apps, because other long reads wait meanwhile.
    private static let maximumExcluded = 50_000

    init(_ query: ExportQuery, _ snapshot: DirectoryCache.Snapshot) {
        self.query = query
        // The apps come from the same snapshot as the rows, so that the app of every row is known.
        apps = Dictionary(snapshot.numbers.map { ($1, $0) }) { first, _ in first }
        let items = snapshot.directory.apps.flatMap { app in app.appleItems.map { ($0, app) } }
        self.items = Dictionary(items) { first, _ in first }
    }

    /// The scopes of the query's app, or of all apps, in ascending order.
    var scopes: [Scope] {
        apps.filter { query.app == nil || query.app == $1 }.keys.sorted()
            .flatMap { [Scope(app: $0, isTest: false), Scope(app: $0, isTest: true)] }
    }

    /// The number of the last row before the page.
    var lastNumber: Int64 {
        switch page.next ?? query.since {
        case .row(let number): number
        case .deletion(let cursor): cursor.number
        default: 0
        }
    }

    /// Adds a row, unless the query excludes its app; returns whether the page has room for another one.
    private mutating func add(_ cursor: ExportCursor, of app: AppID?, _ values: (AppID) -> [ExportValue])
        -> Bool
    {
        page.next = nil
        guard let app, query.app == nil || query.app == app else {
            excludedCount += 1
            guard excludedCount >= Self.maximumExcluded else { return true }
            page.next = cursor
            return false
        }
        page.rows.append(ExportRow(cursor, values(app)))
        guard page.rows.count >= query.limit else { return true }
        page.next = cursor
        return false
    }

    mutating func add(_ click: ClickRecord, _ link: LinkID?) -> Bool {
        let app = apps[click.scope.number >> 1]
        return add(.row(click.number), of: app) { app in click.click(of: app, link: link).exportValues }
    }

    mutating func add(_ check: JoinedCheck) -> Bool {
        let (record, table) = (check.record, query.table)
        return add(.row(Int64(bitPattern: record.id.high)), of: apps[record.scope.number >> 1]) { app in
            let isTest = record.scope.isTest
            let (id, facts, campaign) = (record.id, record.facts, check.campaign)
            return RecordedCheck(id: id, app: app, isTest: isTest, facts: facts, campaign: campaign)
                .exportValues(of: table)
        }
    }

    mutating func add(_ event: EventRecord) -> Bool {
        add(.row(event.number), of: apps[event.scope.number >> 1], event.exportValues)
    }

    mutating func add(_ row: DeliveryRow, to endpoint: PostbackEndpoint) -> Bool {
        let cursor = DeliveryCursor(endpoint: endpoint.id.low, event: row.event.id)
        return add(.delivery(cursor), of: endpoint.app) { _ in row.delivery.exportValues(to: endpoint) }
    }

    mutating func add(_ row: ErasedRow) -> Bool {
        var cursor = deletions
        cursor.number = row.number
        return add(.deletion(cursor), of: row.app) { _ in row.exportValues }
    }

    /// Adds a postback, whose app this server may not know.
    mutating func add(_ stored: StoredApplePostback) -> Bool {
        let app = items[stored.postback.item]
        guard app == nil, query.app == nil else {
            return add(.row(stored.number), of: app?.id) { _ in stored.exportValues(of: app) }
        }
        page.next = nil
        page.rows.append(ExportRow(.row(stored.number), stored.exportValues(of: nil)))
        guard page.rows.count >= query.limit else { return true }
        page.next = .row(stored.number)
        return false
    }

    /// The deletions that the client knows of once it has read the page.
    private var deletions: DeletionCursor {
        if case .deletion(let cursor)? = page.rows.last?.cursor ?? query.since {
            cursor
        } else {
            DeletionCursor()
        }
    }

    /// Adds for each table the first day that has rows, unless the client knows that day.
    ///
    /// The page may exceed its limit by one row for each table.
    ///
    /// - Parameters:
    ///   - oldest: the time of the oldest row of each table; nil for an empty one.
    ///   - end: the time before which no row can appear any more.
    mutating func add(_ oldest: [Timestamp?], before end: Timestamp) {
        var cursor = deletions
        for (index, table) in DeletionCursor.tables.enumerated()
        where oldest[index] != nil || cursor.days[index] > 0 {
            let day = CivilDate.floorDivide(min(oldest[index] ?? end, end).milliseconds, by: 86_400_000)
            guard day > cursor.days[index] else { continue }
            cursor.days[index] = day
            let time = Timestamp(milliseconds: day * 86_400_000)
            page.rows.append(ExportRow(.deletion(cursor), ErasedRow.retention(table, before: time)))
        }
    }

    mutating func add(_ listing: LinkListing, _ number: Int64) -> Bool {
        add(.row(number), of: listing.link.app) { _ in listing.exportValues }
    }

    /// Adds the counts of a campaign after the query's cursor; returns whether the page has room for more.
    mutating func add(_ counts: [StoredCount], of campaign: String, in hour: Timestamp, _ scope: Scope)
        -> Bool
    {
        let app = apps[scope.number >> 1]
        let rows = counts.map { count -> (cursor: CountCursor, count: Int64) in
            var cursor = CountCursor(
                hour: hour,
                scope: scope.number,
                campaign: campaign,
                dimension: count.dimension
            )
            (cursor.value, cursor.metric) = (count.value, count.metric)
            return (cursor, count.count)
        }
        for (cursor, count) in rows.sorted(by: { $0.cursor < $1.cursor }) {
            if case .count(let since)? = query.since, cursor <= since { continue }
            let hasRoom = add(.count(cursor), of: app) { app in
                let dimension = Dimension(rawValue: cursor.dimension)?.word ?? String(cursor.dimension)
                return [
                    .time(hour), .text(app.text), .flag(scope.isTest), .text(campaign), .text(dimension),
                    .text(cursor.value), .text(cursor.metric), .integer(count),
                ]
            }
            guard hasRoom else { return false }
        }
        return true
    }
}

extension Dimension {
    /// The name of the dimension in exports.
    var word: String {
        switch self {
        case .total: "total"
        case .campaign: "campaign"
        case .source: "source"
        case .platform: "platform"
        case .osVersion: "os_version"
        case .method: "method"
        case .timeToInstall: "time_to_install"
        case .calibration: "calibration"
        case .launch: "launch_group"
        case .click: "click_group"
        case .browser: "browser"
        case .link: "link"
        case .hourOfDay: "hour_of_day"
        case .playFinding: "play_finding"
        case .event: "event"
        case .eventSource: "event_source"
        case .eventLink: "event_link"
        case .cohort: "cohort"
        }
    }
}
