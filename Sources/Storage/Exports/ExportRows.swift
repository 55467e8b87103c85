public import Attribution

/// The reads of exports, each in the order of its table.
public protocol ExportRows: NumberedRowReader, DirectoryReader, LinkPageRows, EventRows, ApplePostbackRows,
    PostbackRows
{
    /// Returns the end of an export of tables whose numbers contain times.
    ///
    /// A row that is written later gets a number above this end, or at least above all numbers of its table, so the
    /// next export finds the row.
    func exportEnd() throws(Failure) -> Int64

    /// Returns the erased rows with the lowest of these numbers, at most `limit`.
    func erasedRows(_ numbers: ClosedRange<Int64>, atMost limit: Int) throws(Failure) -> [ErasedRow]

    /// Returns the times of the oldest rows of ``DeletionCursor/tables``; nil for an empty table.
    func oldestRows() throws(Failure) -> [Timestamp?]

    /// Returns the links with numbers above `number`, lowest first, and at most `limit` of them.
    func exportedLinks(after number: Int64, atMost limit: Int) throws(Failure) -> [StoredLink]

    /// Returns the first hour from `start` on in which a scope has counts.
    func countedHour(of scope: Scope, from start: Timestamp) throws(Failure) -> Timestamp?

    /// Returns the campaigns with counts in an hour, in the order of their bytes, after a name.
    func countedCampaigns(of scope: Scope, in hour: Timestamp, after name: String, atMost limit: Int)
        throws(Failure) -> [String]

    /// Returns the counts of a campaign in an hour; an empty name means all campaigns together.
    func counts(of scope: Scope, campaign: String, in hour: Timestamp) throws(Failure) -> [StoredCount]
}

/// A row of `counts`, without the campaign and the hour.
public struct StoredCount: Sendable {
    public let dimension: Int64
    public let value: String
    public let metric: String
    public let count: Int64

    public init(dimension: Int64, value: String, metric: String, count: Int64) {
        (self.dimension, self.value, self.metric, self.count) = (dimension, value, metric, count)
    }
}

extension DatabaseSession where Backend.Reader: ReportReader {
    public func end(of table: ExportTable, at now: Timestamp) async throws(StoreError) -> ExportCursor {
        switch table {
        case .links: return .row(.max)
        case .deliveries:
            return .delivery(DeliveryCursor(endpoint: .max, event: OutboxEventID(high: 0, low: 0)))
        case .counters:
            // While the database takes writes, counts in memory are written within a second. The clocks of servers differ
            // by less than a second.
            let hour = CivilDate.floorDivide(now.milliseconds - 60_000, by: 3_600_000) * 3_600_000
            return .count(CountCursor(hour: Timestamp(milliseconds: hour), scope: -1))
        case .clicks, .checks, .matches, .events, .deletions, .applePostbacks:
            try await loop.flushUpdates()
            // This read must end before the snapshot of the first page begins.
            return .row(
                try await loop.readInBackground { reader throws(Backend.Reader.Failure) in
                    try reader.exportEnd()
                }
            )
        }
    }

    public func export(_ query: ExportQuery) async throws(StoreError) -> ExportPage {
        try await loop.readInBackground { reader throws(Backend.Reader.Failure) in try reader.export(query) }
    }
}

extension ExportRows {
    fileprivate func export(_ query: ExportQuery) throws(Failure) -> ExportPage {
        var builder = PageBuilder(query, try directorySnapshot())
        switch (query.table, query.end) {
        case (.counters, .count(let end)): try readCounts(&builder, through: end)
        case (.links, .row): try readLinks(&builder)
        case (.deliveries, .delivery): try readDeliveries(&builder)
        case (.deletions, .row(let end)):
            let hasRoom = try addRows(to: &builder, through: end, read: erasedRows, number: \.number) {
                $0.add($1)
            }
            if hasRoom { builder.add(try oldestRows(), before: RowIdentifier.time(of: end)) }
        case (.applePostbacks, .row(let end)):
            try addRows(to: &builder, through: end, read: applePostbacks(_:atMost:), number: \.number) {
                $0.add($1)
            }
        case (.events, .row(let end)):
            try addRows(to: &builder, through: end, read: exportedEvents, number: \.number) { $0.add($1) }
        case (_, .row(let end)):
            let rows = NumberedRows(
                .ascending,
                after: builder.lastNumber,
                through: end,
                onlyMatches: query.table == .matches,
                isJoined: query.table != .clicks
            )
            if query.table == .clicks {
                try clicks(rows) { click, link in builder.add(click.record, link) }
            } else {
                try checks(rows) { builder.add($0) }
            }
        default: break
        }
        return builder.page
    }

    /// Adds rows in the order of their numbers; returns whether the page has room for more.
    @discardableResult
    private func addRows<Row>(
        to builder: inout PageBuilder,
        through end: Int64,
        read: (ClosedRange<Int64>, Int) throws(Failure) -> [Row],
        number: (Row) -> Int64,
        add: (inout PageBuilder, Row) -> Bool
    ) throws(Failure) -> Bool {
        let limit = builder.query.limit
        var next = builder.lastNumber
        while next < end {
            let rows = try read((next + 1)...end, limit)
            for row in rows where !add(&builder, row) { return false }
            guard rows.count == limit, let last = rows.last else { break }
            next = number(last)
        }
        return true
    }

    private func readDeliveries(_ builder: inout PageBuilder) throws(Failure) {
        var since: DeliveryCursor?
        if case .delivery(let cursor)? = builder.query.since { since = cursor }
        let (app, first) = (builder.query.app, since?.endpoint ?? 0)
        let records = try endpointRecords().filter { record in
            record.endpoint.id.low >= first && (app ?? record.endpoint.app) == record.endpoint.app
        }
        for record in records.sorted(by: { $0.endpoint.id.low < $1.endpoint.id.low }) {
            let isFirst = record.endpoint.id.low == since?.endpoint
            let newest = OutboxEventID(high: UInt64(Int64.max), low: 0)
            var hasRoom = true
            try deliveries(of: record, before: isFirst ? since?.event ?? newest : newest) { row in
                hasRoom = builder.add(row, to: record.endpoint)
                return hasRoom
            }
            guard hasRoom else { return }
        }
    }

    private func readLinks(_ builder: inout PageBuilder) throws(Failure) {
        var (last, limit) = (builder.lastNumber, builder.query.limit)
        while limit > 0 {
            let links = try exportedLinks(after: last, atMost: limit)
            for link in links {
                guard let listing = try listing(link), builder.add(listing, link.number) else { return }
            }
            guard links.count == limit, let number = links.last?.number else { return }
            last = number
        }
    }

    private func readCounts(_ builder: inout PageBuilder, through end: CountCursor) throws(Failure) {
        var next = CountCursor(hour: Timestamp(milliseconds: 0), scope: 0)
        if case .count(let since)? = builder.query.since { next = since }
        while true {
            // The next hour in which any scope has counts, from the scope of the cursor on.
            var hours: [(hour: Timestamp, scope: Scope)] = []
            for scope in builder.scopes {
                let hour =
                    scope.number < next.scope ? next.hour.advanced(byMilliseconds: 3_600_000) : next.hour
                if let hour = try countedHour(of: scope, from: hour) { hours.append((hour, scope)) }
            }
            guard let first = hours.min(by: { ($0.hour, $0.scope.number) < ($1.hour, $1.scope.number) })
            else { return }
            if first.hour != next.hour || first.scope.number != next.scope {
                next = CountCursor(hour: first.hour, scope: first.scope.number)
            }
            guard next < end else { return }
            guard try readHour(&builder, from: next, first.scope) else { return }
            next = CountCursor(hour: next.hour, scope: next.scope + 1)
        }
    }

    /// Adds the counts of a scope in an hour; returns false if the page is full.
    private func readHour(_ builder: inout PageBuilder, from start: CountCursor, _ scope: Scope)
        throws(Failure) -> Bool
    {
        let limit = 100
        var campaigns = [start.campaign]
        while let last = campaigns.last {
            for campaign in campaigns {
                let counts = try counts(of: scope, campaign: campaign, in: start.hour)
                guard builder.add(counts, of: campaign, in: start.hour, scope) else { return false }
            }
            campaigns = try countedCampaigns(of: scope, in: start.hour, after: last, atMost: limit)
        }
        return true
    }
}
