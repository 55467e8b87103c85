internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// What is to be added to the counts that are watched for a fall, gathered in memory.
///
/// Writer's thread only.
///
/// Written once a second, so that a commit writes no page more for it: a second of it may be lost with the process.
struct DriftBatch {
    private struct Span: Hashable {
        let scope: Scope
        /// Its first moment.
        let period: Timestamp
    }

    /// Of the open transaction.
    private var open: [Span: [DriftGroup: DriftCount]] = [:]
    /// Of transactions that were committed.
    private var waiting: [Span: [DriftGroup: DriftCount]] = [:]
    private var register = AdmittedDriftGroups()
    /// When all was written, in nanoseconds of the monotonic clock.
    private var writtenAt: UInt64 = 0
    private var mustBeWritten = false
    private var isWritten = false

    private static let interval: UInt64 = 1_000_000_000

    /// Adds what happened at `moment`; test traffic is nobody's trend.
    mutating func add(_ count: DriftCount, of group: DriftGroup, in scope: Scope, at moment: Timestamp) {
        guard !scope.isTest else { return }
        let span = Span(scope: scope, period: DriftHistory.end(at: moment))
        open[span, default: [:]][group, default: DriftCount()] += count
    }

    /// Has everything written with the open transaction.
    mutating func flush() {
        mustBeWritten = true
    }

    /// Adds what waits to the table, under the names that each span admits, if it is time.
    mutating func writeIfDue(to connection: SQLiteConnection) throws(SQLiteError) {
        guard !open.isEmpty || !waiting.isEmpty else { return }
        guard mustBeWritten || MonotonicTime.now().nanoseconds >= writtenAt + Self.interval else { return }
        for counts in [waiting, open] {
            for (span, counts) in counts {
                for (group, count) in counts { try write(count, of: group, span, to: connection) }
            }
        }
        isWritten = true
    }

    private mutating func write(
        _ count: DriftCount,
        of group: DriftGroup,
        _ span: Span,
        to connection: SQLiteConnection
    ) throws(SQLiteError) {
        let group = try register.admit(group, of: span.scope, in: span.period, on: connection)
        try connection.statement(Self.add).run(
            span.scope.number,
            span.period.milliseconds,
            group.side.rawValue,
            group.name,
            count.trials,
            count.matches
        )
    }

    /// After the transaction was committed.
    mutating func commit() {
        if isWritten {
            waiting.removeAll(keepingCapacity: true)
            writtenAt = MonotonicTime.now().nanoseconds
            isWritten = false
        } else {
            for (span, counts) in open { waiting[span, default: [:]].merge(counts, uniquingKeysWith: +) }
        }
        open.removeAll(keepingCapacity: true)
        mustBeWritten = false
    }

    /// After the transaction was undone.
    mutating func rollback() {
        open.removeAll(keepingCapacity: true)
        // What it let in is not in the database.
        register.forgetAll()
        isWritten = false
    }

    static let add: StaticString = """
        INSERT INTO drift_counters VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET trials = trials + excluded.trials, matches = matches + excluded.matches
        """
}

/// Which groups have counts of their own in a span: what strangers write into headers must not fill a database.
///
/// Writer's thread only. Those that are watched already are always among them, so that nobody can crowd them out.
struct AdmittedDriftGroups {
    /// Groups of one side and one span beyond which others count together.
    static let limit = 200

    private struct Page: Hashable {
        let scope: Scope
        let period: Timestamp
    }
    private var groups: [Page: Set<DriftGroup>] = [:]

    mutating func admit(
        _ group: DriftGroup,
        of scope: Scope,
        in period: Timestamp,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> DriftGroup {
        let page = Page(scope: scope, period: period)
        if groups[page] == nil {
            forgetOldest(of: scope)
            groups[page] = try read(page, connection)
        }
        if groups[page]?.contains(group) == true { return group }
        let count = groups[page]?.count { $0.side == group.side } ?? 0
        guard count < Self.limit else {
            return DriftGroup(group.side, platform: .others, osVersion: .others, client: .others)
        }
        groups[page, default: []].insert(group)
        return group
    }

    /// After a transaction that was undone: what it let in is not in the database.
    mutating func forgetAll() {
        groups = [:]
    }

    /// Two spans are kept: events of both arrive around the end of one.
    private mutating func forgetOldest(of scope: Scope) {
        let others = groups.keys.filter { $0.scope == scope }
        guard others.count >= 2, let oldest = others.min(by: { $0.period < $1.period }) else { return }
        groups[oldest] = nil
    }

    private func read(_ page: Page, _ connection: SQLiteConnection) throws(SQLiteError) -> Set<DriftGroup> {
        let scope = page.scope.number
        let names =
            try connection.statement(Self.counted).all(scope, page.period.milliseconds) {
                ($0.text(0), $0.text(1))
            }
            + connection.statement(Self.watched).all(scope) { ($0.text(0), $0.text(1)) }
        return Set(
            names.compactMap { side, name in DriftSide(rawValue: side).flatMap { DriftGroup($0, name: name) }
            }
        )
    }

    static let counted: StaticString = """
        SELECT side, name FROM drift_counters WHERE scope = ?1 AND period = ?2
        """
    static let watched: StaticString = "SELECT side, name FROM drift_groups WHERE scope = ?1"
}
