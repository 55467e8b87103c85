internal import Attribution
internal import SQLite
internal import Storage

/// Clicks as they stand in their table.
enum ClickRows {
    /// The click with this number; nil when there is none.
    static func find(_ number: Int64, on connection: SQLiteConnection) throws(SQLiteError) -> ClickRecord? {
        try connection.statement(byNumber).first(ClickRecord.self, number)
    }

    /// Nil where there is none with the whole of the identifier.
    static func find(_ id: ClickID, on connection: SQLiteConnection) throws(SQLiteError) -> ClickRecord? {
        try connection.statement(byIdentifier).first(ClickRecord.self, id.high, id.low)
    }

    /// The record's click, with the link that was tapped: most clicks have none, and need no query for it.
    static func click(_ record: ClickRecord, of app: AppID, on connection: SQLiteConnection)
        throws(SQLiteError)
        -> Click
    {
        guard let number = record.link else { return record.click(of: app, link: nil) }
        let link = try connection.statement(LinkSQL.idOfNumber).first(number) { row in
            LinkID(high: UInt64(bitPattern: row.integer(0)), low: UInt64(bitPattern: row.integer(1)))
        }
        return record.click(of: app, link: link)
    }

    static let byNumber: SQL = "SELECT \(ClickRecord.columns) FROM clicks WHERE id = ?1"
    static let byIdentifier: SQL = "SELECT \(ClickRecord.columns) FROM clicks WHERE id = ?1 AND id_low = ?2"
}

/// Claims as they stand in their table.
enum ClaimRows {
    /// The answer that the launch got, for a check of the same app; nil where the click is gone.
    static func claim(_ record: ClaimRecord, for check: Check, on connection: SQLiteConnection)
        throws(SQLiteError)
        -> Claim?
    {
        guard let click = try ClickRows.find(record.click, on: connection) else { return nil }
        return record.claim(of: try ClickRows.click(click, of: check.app, on: connection))
    }

    static func ofClick(_ number: Int64, on connection: SQLiteConnection) throws(SQLiteError) -> ClaimRecord?
    {
        try connection.statement(byClick).first(ClaimRecord.self, number)
    }

    /// The claim of the check's installation whose click's window has not ended.
    static func ofInstall(_ check: Check, _ scope: Scope, on connection: SQLiteConnection) throws(SQLiteError)
        -> ClaimRecord?
    {
        for install in check.installs {
            let record = try connection.statement(byInstall).first(
                ClaimRecord.self,
                scope.number,
                install.index,
                install.rest,
                check.at.milliseconds
            )
            if let record { return record }
        }
        return nil
    }

    /// An answer to this key that was seen to fail, of a click whose window has not ended.
    static func undelivered(
        _ scope: Scope,
        _ key: KeyedHash,
        at now: Timestamp,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> ClaimRecord? {
        try connection.statement(undelivered)
            .first(ClaimRecord.self, scope.number, key.index, key.rest, now.milliseconds)
    }

    /// The newest claim of the check's caller, made within the grace before or after it.
    ///
    /// After: a clock that was set back. Not without end, or a leap of the clock would repeat answers for years.
    static func ofCaller(_ scope: Scope, _ key: KeyedHash, _ check: Check, on connection: SQLiteConnection)
        throws(SQLiteError) -> ClaimRecord?
    {
        for caller in check.callers {
            let record = try connection.statement(byCaller).first(
                ClaimRecord.self,
                scope.number,
                key.index,
                caller.index,
                caller.rest,
                check.at.advanced(byMilliseconds: -check.replayGrace).milliseconds,
                check.at.advanced(byMilliseconds: check.replayGrace).milliseconds
            )
            if let record { return record }
        }
        return nil
    }

    static let byClick: SQL = "SELECT \(ClaimRecord.columns) FROM claims WHERE click = ?1"
    static let byInstall: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE claims.scope = ?1 AND install = ?2 AND install_rest = ?3 AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """
    static let byCaller: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM click_index AS closed CROSS JOIN claims ON claims.click = closed.click
        WHERE closed.scope = ?1 AND closed.hash = ?2 AND closed.state = 1
            AND closed.since BETWEEN ?5 AND ?6 AND closed.caller = ?3 AND claims.caller = ?3 AND caller_rest = ?4
        ORDER BY closed.since DESC, closed.click DESC LIMIT 1
        """
    static let undelivered: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE is_undelivered = 1 AND claims.scope = ?1 AND hash = ?2 AND hash_rest = ?3
            AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """
}
