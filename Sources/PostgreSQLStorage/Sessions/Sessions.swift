#if PostgreSQL
internal import Attribution
internal import PostgreSQL
internal import Storage

/// Changes the dashboard's sessions and the links that start them.
extension PostgreSQLWriter {
    func insert(_ session: SessionRecord) throws(PostgreSQLError) { _ = try run(Self.insertSession, session) }

    func takeSignInLink(_ digest: KeyDigest, expiringAfter now: Timestamp) throws(PostgreSQLError) -> Bool {
        try batch.run(Self.takeLink, digest.bytes, now.milliseconds).affectedCount > 0
    }

    func insert(_ link: SignInLink) throws(PostgreSQLError) {
        try batch.run(Self.insertLink, link.digest.bytes, link.expiresAt.milliseconds)
    }

    func setUse(ofSession digest: KeyDigest, at now: Timestamp) throws(PostgreSQLError) {
        try batch.run(Self.setUse, digest.bytes, now.milliseconds)
    }

    func removeSession(_ digest: KeyDigest) throws(PostgreSQLError) {
        try batch.run(Self.removeSession, digest.bytes)
    }

    func removeSessions(but digest: KeyDigest) throws(PostgreSQLError) {
        try batch.run(Self.removeOthers, digest.bytes)
    }

    func setDashboard(_ url: String) throws(PostgreSQLError) {
        let server = batch.connection.server
        try batch.run(ServerRow.setDashboard, server.number, server.holder, url)
        batch.connection.dashboard = url
    }

    func removeEnded(at now: Timestamp) throws(PostgreSQLError) {
        try batch.run(Self.removeSessions, now.milliseconds)
        try batch.run(Self.removeLinks, now.milliseconds)
    }

    private static let insertSession: PreparedStatement = """
        INSERT INTO dashboard_sessions (\(SessionRecord.columns))
        SELECT * FROM \(rowsWith: SessionRecord.columns)
        """
    private static let takeLink: PreparedStatement =
        "DELETE FROM sign_in_links WHERE digest = $1 AND expires_at > $2"
    private static let insertLink: PreparedStatement =
        "INSERT INTO sign_in_links (digest, expires_at) VALUES ($1, $2)"
    private static let setUse: PreparedStatement =
        "UPDATE dashboard_sessions SET used_at = greatest(used_at, $2) WHERE digest = $1"
    private static let removeSession = PreparedStatement("DELETE FROM dashboard_sessions WHERE digest = $1")
    private static let removeOthers = PreparedStatement("DELETE FROM dashboard_sessions WHERE digest <> $1")
    private static let removeSessions: PreparedStatement =
        "DELETE FROM dashboard_sessions WHERE expires_at <= $1"
    private static let removeLinks = PreparedStatement("DELETE FROM sign_in_links WHERE expires_at <= $1")
}

/// Reads the dashboard's sessions.
extension PostgreSQLReader: SessionRows {
    func session(_ digest: KeyDigest) throws(PostgreSQLError) -> SessionRecord? {
        try all(Self.selectSession, digest.bytes) { row throws(PostgreSQLError) in
            try row.record(SessionRecord.self)
        }
        .first
    }

    func sessions() throws(PostgreSQLError) -> [SessionRecord] {
        try all(Self.selectSessions) { row throws(PostgreSQLError) in try row.record(SessionRecord.self) }
    }

    func dashboards() throws(PostgreSQLError) -> [(server: Int64, url: String)] {
        try all(Self.selectDashboards) { row throws(PostgreSQLError) in
            (server: row.get("number"), url: row.get("dashboard"))
        }
    }

    private static let selectDashboards: PreparedStatement = """
        SELECT number::int8, dashboard FROM servers WHERE dashboard <> ''
        AND seen_at > clock_timestamp() - interval '\(ServerRow.silentSeconds) seconds' ORDER BY number
        """
    private static let selectSessions: PreparedStatement =
        "SELECT \(SessionRecord.columns) FROM dashboard_sessions ORDER BY created_at DESC, digest"
    private static let selectSession: PreparedStatement =
        "SELECT \(SessionRecord.columns) FROM dashboard_sessions WHERE digest = $1"
}
#endif
