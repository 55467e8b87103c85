public import Attribution

/// Reads the two large tables in the order of their rows' numbers.
///
/// Each function passes rows to `body` until `body` returns false, the limit is reached, or no rows are left.
public protocol NumberedRowReader {
    associatedtype Failure: Error

    /// Passes clicks, each with the id of its link.
    func clicks(_ rows: NumberedRows, _ body: (ClaimedClick, LinkID?) -> Bool) throws(Failure)
    /// Passes the records of checks.
    func checks(_ rows: NumberedRows, _ body: (JoinedCheck) -> Bool) throws(Failure)
}

/// The rows of clicks or checks to read, and their order.
public struct NumberedRows: Sendable {
    public enum Order: Sendable {
        case ascending
        case descending
    }

    public let order: Order
    /// The rows to read have numbers above `after` and up to `through`, inclusive.
    public let after, through: Int64
    /// Nil for the rows of all apps.
    public let scope: Scope?
    /// The maximum number of rows; nil if `body` ends the reading.
    public let limit: Int?
    /// Whether only the records of matches are read.
    public let onlyMatches: Bool
    /// Whether each click is read with its claim, and each record of a check with the campaign, the time and the whole
    /// identifier of its click.
    public let isJoined: Bool

    public init(
        _ order: Order,
        after: Int64 = -1,
        through: Int64 = .max,
        of scope: Scope? = nil,
        limit: Int? = nil,
        onlyMatches: Bool = false,
        isJoined: Bool = true
    ) {
        (self.order, self.after, self.through) = (order, after, through)
        (self.scope, self.limit) = (scope, limit)
        (self.onlyMatches, self.isJoined) = (onlyMatches, isJoined)
    }
}

/// Gathers a page of the rows that match a query.
///
/// A page ends when it has `limit` rows, or when the walk has read `rowLimit` rows.
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

    /// The cursor after which the next page starts; nil if the rows ended and no limit was reached.
    var next: Cursor? { isFull ? last : nil }
}
