internal import Attribution
internal import SQLite
internal import Storage

/// Writes and deletes entries of the audit log.
extension SQLiteWriter {
    func insert(_ entry: AuditRecord) throws(SQLiteError) {
        try connection.statement(Self.insertEntry).run(entry)
    }

    private static let insertEntry = SQL.insert("audit_log", AuditRecord.columns)

    func deleteAudit(before id: AuditID, atMost limit: Int64) throws(SQLiteError) -> Int64 {
        try connection.statement(Self.deleteEntries).run(id.high, limit)
        return connection.changeCount
    }

    private static let deleteEntries: SQL = """
        DELETE FROM audit_log WHERE (id_high, id_low) IN (
            SELECT id_high, id_low FROM audit_log WHERE id_high < ?1 ORDER BY id_high, id_low LIMIT ?2
        )
        """
}

/// Reads the audit log.
extension SQLiteReader: AuditRows {
    func audit(before id: AuditID, downTo end: AuditID, _ body: (AuditEntry) -> Bool) throws(SQLiteError) {
        let statement = try connection.statement(Self.entries)
        try statement.bind(id.high, id.low, end.high)
        defer { statement.reset() }
        while try statement.step() { guard body(try statement.record(AuditRecord.self).entry) else { break } }
    }

    private static let entries: SQL = """
        SELECT \(AuditRecord.columns) FROM audit_log WHERE (id_high, id_low) < (?1, ?2) AND id_high >= ?3
        ORDER BY id_high DESC, id_low DESC
        """
}
