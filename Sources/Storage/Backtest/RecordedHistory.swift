public import Attribution

/// The clicks and checks of one app, as a database reads them for a backtest.
public protocol HistoryRows: NumberReader, NumberedRowReader {
    func historyBounds(of scope: Scope) throws(Failure) -> HistoryBounds
}

/// The first and last records of an app, read before all others.
public struct HistoryBounds: Sendable {
    public let scope: Scope
    /// The number of the last click to read; 0 if there is none.
    public var lastClick: Int64 = 0
    /// The number of the last check to read; 0 if there is none.
    public var lastCheck: Int64 = 0
    public var firstClickAt: Timestamp?
    public var lastClickAt: Timestamp?
    public var firstCheckAt: Timestamp?
    public var lastCheckAt: Timestamp?
    public var learningBegan: Timestamp?
    /// Whether records were deleted.
    public var hasDeleted = false

    public init(of scope: Scope) { self.scope = scope }

    /// The time from the first record to the last one; nil without records.
    public var span: (first: Timestamp, last: Timestamp)? {
        guard let first = [firstClickAt, firstCheckAt].compactMap(\.self).min(),
            let last = [lastClickAt, lastCheckAt].compactMap(\.self).max()
        else { return nil }
        return (first, last)
    }

    /// Returns whether all records from which the model learnt are stored, given the retention in milliseconds.
    public func isWhole(keeping milliseconds: Int64) -> Bool {
        guard !hasDeleted, let span, let learningBegan else { return !hasDeleted }
        return learningBegan >= span.first && span.last.milliseconds(since: span.first) <= milliseconds
    }
}

/// The stored clicks and checks of one app, in the order of time.
///
/// Each page is a separate read: a long snapshot would keep a server from resetting its write-ahead log.
public struct RecordedHistory<Reader: HistoryRows>: TrafficHistory {
    /// Events that were read and not returned yet.
    private struct Pages<Event> {
        var waiting: ArraySlice<Event> = []
        /// The number of the last record that was read.
        var last: Int64 = .min
        var hasEnded = false
    }

    public var gaps: HistoryGaps { events.gaps }
    public let isWhole: Bool
    private let reader: Reader
    private let translate: (Reader.Failure) -> StoreError
    private let bounds: HistoryBounds
    private var events: EventReconstruction
    private var clicks = Pages<RecordedClick>()
    private var checks = Pages<RecordedLaunch>()

    private static var clicksOfPage: Int { 1000 }
    private static var checksOfPage: Int { 8192 }
    /// The number of records to read ahead: as many as two loops can have pending.
    private static var readAhead: Int { 2 * PendingCheckRecords.maximumRecords }

    /// - Parameters:
    ///   - app: the app of the clicks and checks.
    ///   - isTest: whether to read test traffic instead of live traffic.
    ///   - reader: reads the clicks and checks.
    ///   - seconds: how long the database stores clicks and checks.
    ///   - remaking: reconstructs fingerprints.
    ///   - translate: returns the error for the caller.
    /// - Throws: if the app does not exist, or the database cannot be read.
    public init(
        of app: AppID,
        isTest: Bool,
        from reader: Reader,
        keeping seconds: Int64,
        remaking: FingerprintReconstruction,
        translate: @escaping (Reader.Failure) -> StoreError
    ) throws(StoreError) {
        (self.reader, self.translate) = (reader, translate)
        let found: HistoryBounds?
        do throws(Reader.Failure) {
            found = try reader.number(of: app).map { number throws(Reader.Failure) in
                try reader.historyBounds(of: Scope(app: number, isTest: isTest))
            }
        } catch { throw translate(error) }
        guard let found else { throw StoreError(.notFound, "the app does not exist") }
        bounds = found
        events = EventReconstruction(remaking, firstCheckAt: found.firstCheckAt)
        isWhole = bounds.isWhole(keeping: seconds * 1000)
    }

    public var span: (first: Timestamp, last: Timestamp)? { bounds.span }

    /// Returns the next event, and reads a page if that is needed; nil at the end.
    public mutating func next() throws(StoreError) -> RecordedEvent? {
        do throws(Reader.Failure) {
            if clicks.waiting.isEmpty, !clicks.hasEnded { try readClicks() }
            if checks.waiting.count < Self.readAhead, !checks.hasEnded { try readChecks() }
        } catch { throw translate(error) }
        // A click comes before a launch of the same millisecond.
        if let launch = checks.waiting.first,
            clicks.waiting.first.map({ RecordedEvent.click($0).at > launch.at }) ?? true
        {
            return checks.waiting.popFirst().map { .launch($0) }
        }
        return clicks.waiting.popFirst().map { .click($0) }
    }
}

/// The clicks, in the order in which they were recorded.
extension RecordedHistory {
    private mutating func readClicks() throws(Reader.Failure) {
        var page: [RecordedClick] = []
        let (reader, limit, end) = (reader, Self.clicksOfPage, bounds.lastClick)
        let rows = NumberedRows(.ascending, after: clicks.last, through: end, of: bounds.scope, limit: limit)
        try reader.clicks(rows) { click, _ in
            clicks.last = click.record.number
            page.append(events.click(click.record, claimedAt: click.claimedAt))
            return true
        }
        clicks.hasEnded = page.count < limit
        clicks.waiting = page[...]
    }
}

/// The checks, in the order of time.
///
/// Their identifiers follow the order of writing, but each loop writes its pending records up to a second late, and
/// later after a failure of the database. So records are read ahead and sorted by time.
extension RecordedHistory {
    private mutating func readChecks() throws(Reader.Failure) {
        let reader = reader
        var launches = Array(checks.waiting)
        while !checks.hasEnded, launches.count < 2 * Self.readAhead {
            let (before, limit) = (launches.count, Self.checksOfPage)
            let rows = NumberedRows(
                .ascending,
                after: checks.last,
                through: bounds.lastCheck,
                of: bounds.scope,
                limit: limit,
                isJoined: false
            )
            try reader.checks(rows) { check in
                checks.last = check.number
                launches.append(events.launch(check.record.facts))
                return true
            }
            checks.hasEnded = launches.count - before < limit
        }
        // Records of one millisecond stay in the order of writing.
        checks.waiting =
            launches.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)[...]
    }
}
