#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Writes and deletes entries of the audit log.
extension PostgreSQLWriter {
    func insert(_ entry: AuditRecord) throws(PostgreSQLError) { _ = try run(Self.insertEntry, entry) }

    private static let insertEntry: PreparedStatement =
        "INSERT INTO audit_log (\(AuditRecord.columns)) SELECT * FROM \(rowsWith: AuditRecord.columns)"

    func deleteAudit(before id: AuditID, atMost limit: Int64) throws(PostgreSQLError) -> Int64 {
        Int64(try batch.run(Self.deleteEntries, id.high, limit).affectedCount)
    }

    /// Skips locked entries, because two servers that delete the same entries would wait for each other.
    private static let deleteEntries: PreparedStatement = """
        DELETE FROM audit_log WHERE (id_high, id_low) IN (SELECT id_high, id_low FROM audit_log
        WHERE id_high < $1 ORDER BY id_high, id_low LIMIT $2 FOR UPDATE SKIP LOCKED)
        """
}

/// Reads the audit log.
extension PostgreSQLReader: AuditRows {
    /// The number of entries that are read at once.
    private static let entriesAtOnce: Int64 = 500

    func audit(before id: AuditID, downTo end: AuditID, _ body: (AuditEntry) -> Bool)
        throws(PostgreSQLError)
    {
        var next = id
        while true {
            let entries = try all(Self.entries, next.high, next.low, end.high, Self.entriesAtOnce) {
                row throws(PostgreSQLError) in try row.record(AuditRecord.self).entry
            }
            for entry in entries where !body(entry) { return }
            guard entries.count == Self.entriesAtOnce, let last = entries.last else { return }
            next = last.id
        }
    }

    private static let entries: PreparedStatement = """
        SELECT \(AuditRecord.columns) FROM audit_log WHERE (id_high, id_low) < ($1, $2) AND id_high >= $3
        ORDER BY id_high DESC, id_low DESC LIMIT $4
        """
}
#endif
