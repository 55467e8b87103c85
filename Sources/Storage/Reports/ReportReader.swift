/// Everything that statistics, explanations, pages and the history read of a database, in one snapshot.
///
/// A subject is a file: the rows that a database reads, the functions that order, bound and sum them, and the store of the
/// domain that sessions implement with them.
public protocol ReportReader: JobReader, StatisticsRows, DriftRows, CheckRows, ExplanationRows, LinkRows,
    HistoryRows
{}

/// A bounded walk back through rows, from a cursor on, which gathers a page of those that match a query.
struct PageWalk<Element, Cursor> {
    private(set) var elements: [Element] = []
    private let limit: Int
    /// The number of rows that one walk reads at most.
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

    /// Where the next page starts; nil if the walk reached the oldest row.
    var next: Cursor? { isFull ? last : nil }
}
