internal import Attribution
internal import SQLite
internal import Storage

/// Clicks as they stand in their table.
extension SQLiteReader {
    /// The click with this number; nil when there is none.
    func click(numbered number: Int64) throws(SQLiteError) -> ClickRecord? {
        try connection.statement(Self.clickByNumber).first(ClickRecord.self, number)
    }

    static let clickByNumber: SQL = "SELECT \(ClickRecord.columns) FROM clicks WHERE id = ?1"

    /// Nil where there is none with the whole of the identifier.
    func click(_ id: ClickID) throws(SQLiteError) -> ClickRecord? {
        try connection.statement(Self.clickByIdentifier).first(ClickRecord.self, id.high, id.low)
    }

    static let clickByIdentifier: SQL =
        "SELECT \(ClickRecord.columns) FROM clicks WHERE id = ?1 AND id_low = ?2"

    /// The record's click, with the link that was tapped: most clicks have none, and need no query for it.
    func click(_ record: ClickRecord, of app: AppID) throws(SQLiteError) -> Click {
        guard let number = record.link else { return record.click(of: app, link: nil) }
        let link = try connection.statement(LinkSQL.idOfNumber).first(number) { row in
            LinkID(high: UInt64(bitPattern: row.integer(0)), low: UInt64(bitPattern: row.integer(1)))
        }
        return record.click(of: app, link: link)
    }
}

/// Claims as they stand in their table.
extension SQLiteReader {
    /// The answer that the launch of an app got; nil where the click is gone.
    func claim(_ record: ClaimRecord, of app: AppID) throws(SQLiteError) -> Claim? {
        guard let click = try click(numbered: record.click) else { return nil }
        return record.claim(of: try self.click(click, of: app))
    }

    func claim(ofClick number: Int64) throws(SQLiteError) -> ClaimRecord? {
        try connection.statement(Self.claimOfClick).first(ClaimRecord.self, number)
    }

    static let claimOfClick: SQL = "SELECT \(ClaimRecord.columns) FROM claims WHERE click = ?1"

    /// The claim of an installation, by its hashes under each key, whose click's window has not ended.
    func claim(ofInstall hashes: [KeyedHash], in scope: Scope, at now: Timestamp) throws(SQLiteError)
        -> ClaimRecord?
    {
        for install in hashes {
            let record = try connection.statement(Self.claimOfInstall).first(
                ClaimRecord.self,
                scope.number,
                install.index,
                install.rest,
                now.milliseconds
            )
            if let record { return record }
        }
        return nil
    }

    static let claimOfInstall: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE claims.scope = ?1 AND install = ?2 AND install_rest = ?3 AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """

    /// An answer to this key that was seen to fail, of a click whose window has not ended.
    func undeliveredClaim(of key: KeyedHash, in scope: Scope, at now: Timestamp) throws(SQLiteError)
        -> ClaimRecord?
    {
        try connection.statement(Self.undeliveredClaim)
            .first(ClaimRecord.self, scope.number, key.index, key.rest, now.milliseconds)
    }

    static let undeliveredClaim: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM claims CROSS JOIN clicks ON clicks.id = claims.click
        WHERE is_undelivered = 1 AND claims.scope = ?1 AND hash = ?2 AND hash_rest = ?3
            AND expires_at >= ?4
        ORDER BY claimed_at DESC LIMIT 1
        """

    /// The newest claim of the check's caller, made within the grace before or after it.
    ///
    /// After: a clock that was set back. Not without end, or a leap of the clock would repeat answers for years.
    func claim(ofCallerOf check: Check, by key: KeyedHash, in scope: Scope) throws(SQLiteError)
        -> ClaimRecord?
    {
        for caller in check.callers {
            let record = try connection.statement(Self.claimOfCaller).first(
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

    static let claimOfCaller: SQL = """
        SELECT \(ClaimRecord.columns, of: "claims")
        FROM click_index AS closed CROSS JOIN claims ON claims.click = closed.click
        WHERE closed.scope = ?1 AND closed.hash = ?2 AND closed.state = 1
            AND closed.since BETWEEN ?5 AND ?6 AND closed.caller = ?3 AND claims.caller = ?3 AND caller_rest = ?4
        ORDER BY closed.since DESC, closed.click DESC LIMIT 1
        """
}
