internal import Attribution
internal import SQLite
internal import Storage

/// Opening a click to checks, and closing it.
extension WriteContext {
    /// Lets checks find a new click; a robot's is closed from the beginning.
    func open(_ click: ClickRecord, _ entries: [IndexEntry]) throws(SQLiteError) {
        for entry in entries {
            filters.add(entry.hash.index)
            guard !click.facts.isRobot else {
                try insertClosed(click, entry.hash)
                continue
            }
            try connection.statement(IndexSQL.open).run(entry)
        }
        guard let address = click.address, !click.facts.isRobot else { return }
        try connection.statement(IndexSQL.addAddress).run(
            click.scope.number,
            address.near,
            click.facts.clickedAt.milliseconds,
            click.number,
            address.exact,
            HashMarks(click.hashes).bytes
        )
    }

    /// Closes a click to checks, under all its fingerprints; false when it was closed before.
    func close(
        _ click: ClickRecord,
        as reason: NoMatchReason,
        at closedAt: Timestamp,
        by caller: KeyedHash? = nil
    ) throws(SQLiteError) -> Bool {
        var wasOpen = false
        for hash in click.hashes {
            try connection.statement(IndexSQL.close).run(
                click.scope.number,
                hash.index,
                click.facts.clickedAt.milliseconds,
                click.number,
                closedAt.milliseconds,
                reason.rawValue,
                caller?.index
            )
            if connection.changeCount > 0 { wasOpen = true }
        }
        return wasOpen
    }

    /// Takes a click whose window has ended from those that a check weighs by their address.
    func removeAddress(_ click: ClickRecord) throws(SQLiteError) {
        guard let near = click.address?.near else { return }
        try connection.statement(IndexSQL.removeAddress).run(
            click.scope.number,
            near,
            click.facts.clickedAt.milliseconds,
            click.number
        )
    }

    /// Takes a click that is to be deleted from all that checks look into.
    func forget(_ click: ClickRecord, isOpen: Bool) throws(SQLiteError) {
        let claimedAt = try connection.statement(IndexSQL.claimedAt).first(click.number) { $0.integer(0) }
        for hash in click.hashes {
            if isOpen {
                try connection.statement(IndexSQL.removeOpen).run(
                    click.scope.number,
                    hash.index,
                    click.facts.clickedAt.milliseconds,
                    click.number
                )
            }
            try connection.statement(IndexSQL.removeClosed).run(
                click.scope.number,
                hash.index,
                claimedAt,
                click.expiresAt.milliseconds,
                click.facts.clickedAt.milliseconds,
                click.number
            )
        }
        try removeAddress(click)
    }

    private func insertClosed(_ click: ClickRecord, _ hash: KeyedHash) throws(SQLiteError) {
        try connection.statement(IndexSQL.insertClosed).run(
            click.scope.number,
            hash.index,
            click.facts.clickedAt.milliseconds,
            click.number,
            hash.rest,
            NoMatchReason.robotClick.rawValue
        )
    }
}

enum IndexSQL {
    static let open = SQL.insert("click_index", IndexEntry.columns)
    /// What says how crowded a fingerprint is stays: platform and form, weight, visitor.
    static let close: SQL = """
        UPDATE click_index
        SET state = 1, since = ?5, expires_at = NULL, visit = NULL, clicked_at = ?3, closed_as = ?6, caller = ?7,
            exact_address = NULL, near_address = NULL, destination = NULL, campaign = NULL, os_release = NULL, signal_marks = NULL
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4
        """
    static let removeOpen: SQL = """
        DELETE FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4
        """
    static let insertClosed: SQL = """
        INSERT INTO click_index (
            scope, hash, state, since, click, hash_rest, clicked_at, closed_as
        ) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?3, ?6)
        """
    /// A click is closed at one of three moments: claimed, expired, or as of its own.
    static let removeClosed: SQL = """
        DELETE FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 1 AND since IN (?3, ?4, ?5) AND click = ?6
        """
    static let claimedAt: SQL = "SELECT claimed_at FROM claims WHERE click = ?1"
    static let addAddress: SQL = """
        INSERT INTO click_addresses (scope, near_address, clicked_at, click, exact_address, marks)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
    static let removeAddress: SQL = """
        DELETE FROM click_addresses WHERE scope = ?1 AND near_address = ?2 AND clicked_at = ?3 AND click = ?4
        """
}
