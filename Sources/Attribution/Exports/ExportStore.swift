/// A query for a page of an exported table.
public struct ExportQuery: Sendable {
    public let table: ExportTable
    /// Nil for the rows of all apps.
    public var app: AppID?
    /// Only rows after this cursor; nil for the first page.
    public var since: ExportCursor?
    /// The last row of the export, as ``ExportStore/end(of:at:)`` returned it.
    public var end: ExportCursor
    /// The maximum number of rows.
    public var limit: Int

    /// The number of rows of a page.
    public static let standardLimit = 500

    public init(_ table: ExportTable, end: ExportCursor, limit: Int = ExportQuery.standardLimit) {
        (self.table, self.end, self.limit) = (table, end, limit)
    }
}

/// A page of an exported table.
public struct ExportPage: Equatable, Sendable {
    public var rows: [ExportRow] = []
    /// The ``ExportQuery/since`` of the next page; nil for the last page.
    public var next: ExportCursor?

    public init() {}
}

/// The store of exported rows; its calls do not read on the calling event loop.
public protocol ExportStore {
    /// Returns a cursor up to which the table is final: no transaction can still add a row before it.
    ///
    /// Several servers write at the same time, so a row may be stored after another one with a later cursor. An
    /// export ends before the oldest open transaction, and the next export continues there. So no export misses a row.
    ///
    /// - Parameters:
    ///   - table: the table to export.
    ///   - now: the time; an export of counters contains only the hours that have ended by then.
    /// - Returns: the end of an export that starts now.
    /// - Throws: if the database could not be read.
    func end(of table: ExportTable, at now: Timestamp) async throws(StoreError) -> ExportCursor

    /// Returns a page in the order of the table.
    func export(_ query: ExportQuery) async throws(StoreError) -> ExportPage
}

extension ExportTable {
    /// Returns the last cursor of rows that were recorded before a time, but at most `end`.
    ///
    /// For links, deliveries and deletions, the result is always `end`.
    public func end(_ end: ExportCursor, before time: Timestamp) -> ExportCursor {
        switch end {
        case .row(let last) where !isSnapshot:
            // The first half of an identifier: 48 bits of milliseconds, and a counter.
            let first = min(max(time.milliseconds, 0), 1 << 46) << 16
            return .row(min(last, first - 1))
        case .row: return end
        case .count(let last):
            let bound = CountCursor(hour: time, scope: -1)
            return .count(min(last, bound))
        case .deletion, .delivery: return end
        }
    }
}
