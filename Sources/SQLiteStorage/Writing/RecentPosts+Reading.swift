internal import Attribution
internal import SQLite
internal import Storage

extension RecentPosts {
    /// Reads the posts of the last seconds before the newest click, unless that was longer ago.
    mutating func load(from connection: SQLiteConnection, at now: Timestamp) throws(SQLiteError) {
        let last = try connection.integer("SELECT ifnull(max(id), 0) FROM clicks")
        guard now.milliseconds <= last >> 16 + Self.spanMilliseconds else {
            return catchUp(with: [], newest: last)
        }
        try catchUp(to: last, from: connection)
    }

    /// Reads what another process has recorded, given the database's newest click as the transaction begins.
    ///
    /// Identifiers grow from commit to commit, whichever process makes it: without another one, the newest click is
    /// the one known here, and nothing is read. It is an older one only when newer ones have been deleted.
    mutating func catchUp(to last: Int64, from connection: SQLiteConnection) throws(SQLiteError) {
        guard last != newest else { return }
        let first = last - Self.spanMilliseconds << 16
        let posts = try connection.statement(Self.recent).all(
            last > newest ? max(first, newest + 1) : first,
            Self.loadLimit
        ) { row in
            Stored(
                click: row.integer(0),
                scope: Scope(number: row.integer(1)),
                hash: KeyedHash(
                    index: UInt64(bitPattern: row.integer(2)),
                    rest: UInt64(bitPattern: row.integer(3))
                ),
                recordedAt: Timestamp(milliseconds: row.integer(4))
            )
        }
        // Newest first: the last one to be put in is the one that counts.
        catchUp(with: posts.reversed(), newest: last)
    }

    /// So many are read in some 50 ms.
    ///
    /// After a kill under a load of more than 6,000 clicks a second, a post may be recorded twice if its
    /// first answer was lost: better than a start that takes long.
    private static let loadLimit: Int64 = 65_536

    static let recent: SQL = """
        SELECT id, scope, post, post_rest, recorded_at FROM clicks WHERE id >= ?1 ORDER BY id DESC LIMIT ?2
        """
}
