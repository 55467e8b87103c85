internal import Attribution
internal import SQLite
internal import Storage

/// Reads the last report on collisions (visitors who share a fingerprint), which is stored as named figures.
extension SQLiteReader {
    /// Returns the report of a scope (an app's live or test traffic); nil if no report is stored.
    func collisionReport(of scope: Scope) throws(SQLiteError) -> CollisionReport? {
        let figures = try figures(of: .collisions, of: scope)
        guard !figures.isEmpty else { return nil }
        guard let report = CollisionReport(figures: figures) else {
            throw .corrupt("reading the report on collisions")
        }
        return report
    }

    func figures(of report: FigureReport, of scope: Scope) throws(SQLiteError) -> [String: Double] {
        let rows = try connection.statement(Self.figuresOfReport).all(scope.number, report.rawValue) {
            ($0.text(0), $0.real(1))
        }
        return Dictionary(rows) { first, _ in first }
    }

    static let figuresOfReport: SQL = "SELECT name, value FROM figures WHERE scope = ?1 AND report = ?2"
}

/// Reads the index rows and the check records from which collisions are counted.
extension SQLiteReader {
    func indexedClicks(
        of scope: Scope,
        after position: IndexedClick.Position,
        atMost limit: Int,
        _ body: (IndexedClick) -> Void
    ) throws(SQLiteError) {
        try connection.statement(Self.rowsForCollisions)
            .forEach(scope.number, position.hash, position.state, position.since, position.click, limit) {
                row in
                var row = StatementRow(row)
                body(IndexedClick(&row))
            }
    }

    func checkRecordBounds() throws(SQLiteError) -> ClosedRange<Int64>? {
        let bounds = try connection.statement(Self.checkRecordBounds).first { (row) -> ClosedRange<Int64>? in
            guard !row.isNull(0) else { return nil }
            return row.integer(0)...max(row.integer(0), row.integer(1))
        }
        return bounds ?? nil
    }

    static let rowsForCollisions: SQL = """
        SELECT \(IndexedClick.columns) FROM click_index
        WHERE scope = ?1 AND (hash, state, since, click) > (?2, ?3, ?4, ?5)
        ORDER BY hash, state, since, click LIMIT ?6
        """
    static let checkRecordBounds: SQL = "SELECT (SELECT min(id) FROM checks), (SELECT max(id) FROM checks)"
}

extension SQLiteWriter {
    /// Replaces the stored report of a scope.
    func keep(_ figures: [(name: String, value: Double)], as report: FigureReport, of scope: Scope)
        throws(SQLiteError)
    {
        try connection.statement(Self.removeFigures).run(scope.number, report.rawValue)
        let insertion = try connection.statement(Self.addFigure)
        for figure in figures { try insertion.run(scope.number, report.rawValue, figure.name, figure.value) }
    }

    static let removeFigures: SQL = "DELETE FROM figures WHERE scope = ?1 AND report = ?2"
    static let addFigure: SQL = "INSERT INTO figures VALUES (?1, ?2, ?3, ?4)"
}
