internal import Attribution
internal import SQLite
internal import Storage
internal import Threads

/// Changes the dashboard's sessions and the links that start them.
extension SQLiteWriter {
    func insert(_ session: SessionRecord) throws(SQLiteError) {
        try connection.statement(Self.insertSession).run(session)
    }

    func takeSignInLink(_ digest: KeyDigest, expiringAfter now: Timestamp) throws(SQLiteError) -> Bool {
        try connection.statement(Self.takeLink).run(digest.bytes, now.milliseconds)
        return connection.changeCount > 0
    }

    func insert(_ link: SignInLink) throws(SQLiteError) {
        try connection.statement(Self.insertLink).run(link.digest.bytes, link.expiresAt.milliseconds)
    }

    func setUse(ofSession digest: KeyDigest, at now: Timestamp) throws(SQLiteError) {
        try connection.statement(Self.setUse).run(digest.bytes, now.milliseconds)
    }

    func removeSession(_ digest: KeyDigest) throws(SQLiteError) {
        try connection.statement(Self.removeSession).run(digest.bytes)
    }

    func removeSessions(but digest: KeyDigest) throws(SQLiteError) {
        try connection.statement(Self.removeOthers).run(digest.bytes)
    }

    func setDashboard(_ url: String) throws(SQLiteError) {
        guard !url.isEmpty else {
            try connection.statement("DELETE FROM dashboard_address").run()
            return
        }
        let sql: SQL = "INSERT OR REPLACE INTO dashboard_address (rowid, url) VALUES (?1, ?2)"
        try connection.statement(sql).run(Self.process, url)
    }

    /// Deletes an address that this process has stored; the same address of another process stays.
    func removeDashboard(_ url: String) throws(SQLiteError) {
        let sql: SQL = "DELETE FROM dashboard_address WHERE rowid = ?1 AND url = ?2"
        try connection.statement(sql).run(Self.process, url)
    }

    /// A number that no other process has since the machine started; the number of a later process is larger.
    private static let process = Int64(clamping: MonotonicTime.now().nanoseconds)

    func removeEnded(at now: Timestamp) throws(SQLiteError) {
        try connection.statement(Self.removeSessions).run(now.milliseconds)
        try connection.statement(Self.removeLinks).run(now.milliseconds)
    }

    private static let insertSession = SQL.insert("dashboard_sessions", SessionRecord.columns)
    private static let takeLink: SQL = "DELETE FROM sign_in_links WHERE digest = ?1 AND expires_at > ?2"
    private static let insertLink: SQL = "INSERT INTO sign_in_links (digest, expires_at) VALUES (?1, ?2)"
    private static let setUse: SQL = """
        UPDATE dashboard_sessions SET used_at = max(used_at, ?2) WHERE digest = ?1
        """
    private static let removeSession: SQL = "DELETE FROM dashboard_sessions WHERE digest = ?1"
    private static let removeOthers: SQL = "DELETE FROM dashboard_sessions WHERE digest <> ?1"
    private static let removeSessions: SQL = "DELETE FROM dashboard_sessions WHERE expires_at <= ?1"
    private static let removeLinks: SQL = "DELETE FROM sign_in_links WHERE expires_at <= ?1"
}

/// Reads the dashboard's sessions.
extension SQLiteReader: SessionRows {
    func session(_ digest: KeyDigest) throws(SQLiteError) -> SessionRecord? {
        try connection.statement(Self.selectSession).first(SessionRecord.self, digest.bytes)
    }

    func sessions() throws(SQLiteError) -> [SessionRecord] {
        try connection.statement(Self.selectSessions).all(SessionRecord.self)
    }

    func dashboards() throws(SQLiteError) -> [(server: Int64, url: String)] {
        try connection.statement("SELECT url FROM dashboard_address ORDER BY rowid DESC").all {
            (server: 0, url: $0.text(0))
        }
    }

    private static let selectSessions: SQL = """
        SELECT \(SessionRecord.columns) FROM dashboard_sessions ORDER BY created_at DESC, digest
        """
    private static let selectSession: SQL = """
        SELECT \(SessionRecord.columns) FROM dashboard_sessions WHERE digest = ?1
        """
}
