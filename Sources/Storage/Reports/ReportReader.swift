/// The reads of statistics, explanations, pages and the history, in a snapshot of a database.
///
/// Each subject has a file, with the rows that a database reads, the functions that order, bound and add them up, and
/// the session's functions that use them.
public protocol ReportReader: JobReader, StatisticsRows, DriftRows, CheckRows, ExplanationRows, LinkPageRows,
    AuditRows, ExportRows, HistoryRows, PrivacyRows, SessionRows, EventRows, ApplePostbackRows
{}

/// A bounded walk back through rows, from a cursor on, which gathers a page of the rows that match a query.
struct PageWalk<Element, Cursor> {
    private(set) var elements: [Element] = []
    private let limit: Int
    /// The maximum number of rows that one walk reads.
    private let rowLimit: Int
    private var count = 0
    private var last: Cursor?

    init(limit: Int, rowLimit: Int) { (self.limit, self.rowLimit) = (limit, rowLimit) }

    /// Adds the next row, whose element is nil if it does not match; returns whether the walk continues.
    mutating func add(_ element: Element?, at cursor: Cursor) -> Bool {
        (count, last) = (count + 1, cursor)
        if let element { elements.append(element) }
        return !isFull
    }

    private var isFull: Bool { count == rowLimit || elements.count == limit }

    /// The cursor after which the next page starts; nil if the rows ended before a limit.
    var next: Cursor? { isFull ? last : nil }
}
