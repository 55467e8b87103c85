internal import Attribution
internal import SQLite
internal import Storage

/// Which campaigns, sources and OS versions have counters of their own on a day.
///
/// Writer's thread only.
///
/// A day's values are read from the counters once and then kept, so that a value costs one look into a set.
struct AdmittedNames {
    private struct Page: Hashable {
        let scope: Scope
        let dimension: Dimension
        let day: Timestamp
    }
    private var values: [Page: Set<String>] = [:]

    /// The value, or the one for everything beyond the day's limit.
    mutating func admit(
        _ value: String,
        _ dimension: Dimension,
        of scope: Scope,
        on day: Timestamp,
        connection: SQLiteConnection
    ) throws(SQLiteError) -> String {
        guard let limit = dimension.dailyLimit, value != dimension.overflowValue else { return value }
        let page = Page(scope: scope, dimension: dimension, day: day)
        if values[page] == nil {
            forgetOldest(like: page)
            values[page] = try read(page, connection)
        }
        if values[page]?.contains(value) == true { return value }
        guard values[page]?.count ?? 0 < limit else { return dimension.overflowValue }
        values[page, default: []].insert(value)
        return value
    }

    /// After a transaction that was undone: what it let in is not in the database.
    mutating func forgetAll() {
        values = [:]
    }

    /// Two days are kept: around midnight, events of both arrive.
    private mutating func forgetOldest(like page: Page) {
        let others = values.keys.filter { $0.scope == page.scope && $0.dimension == page.dimension }
        guard others.count >= 2, let oldest = others.min(by: { $0.day < $1.day }) else { return }
        values[oldest] = nil
    }

    private func read(_ page: Page, _ connection: SQLiteConnection) throws(SQLiteError) -> Set<String> {
        let (scope, day) = (page.scope.number, page.day.milliseconds)
        let values =
            if page.dimension == .campaign {
                try connection.statement(Self.campaigns).all(scope, day) { $0.text(0) }
            } else {
                try connection.statement(Self.values).all(scope, page.dimension.rawValue, day) { $0.text(0) }
            }
        return Set(values).subtracting([page.dimension.overflowValue])
    }

    static let campaigns: StaticString = """
        SELECT campaign FROM counters
        WHERE scope = ?1 AND granularity = 'day' AND period = ?2 AND dimension = 'total' AND campaign <> ''
        """
    static let values: StaticString = """
        SELECT value FROM counters
        WHERE scope = ?1 AND campaign = '' AND dimension = ?2 AND granularity = 'day' AND period = ?3
        """
}
