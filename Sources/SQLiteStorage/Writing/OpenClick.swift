internal import Attribution
internal import SQLite
internal import Storage

/// Opening a click to checks, and closing it.
extension WriteContext {
    /// Lets checks find a new click; a robot's is closed from the beginning.
    func open(_ click: Int64, _ new: NewClick, _ entries: [IndexEntry], _ scope: Scope) throws(SQLiteError) {
        let facts = new.facts
        let destination = CreditedDestination(facts)
        for entry in entries {
            filters.add(entry.key.index)
            guard !facts.isRobot else {
                try insertClosed(click, scope, entry.key, facts.clickedAt)
                continue
            }
            try connection.statement(FingerprintSQL.open).run(
                scope.number,
                entry.key.index,
                facts.clickedAt.milliseconds,
                click,
                entry.key.rest,
                facts.expiresAt.milliseconds,
                new.visit.index,
                entry.lane,
                entry.weight,
                new.evidence.address?.exact,
                new.evidence.address?.near,
                new.evidence.visitor,
                destination.url,
                destination.campaign,
                entry.release?.code,
                entry.signals
            )
        }
        guard let address = new.evidence.address, !facts.isRobot else { return }
        try connection.statement(FingerprintSQL.addAddress).run(
            scope.number,
            address.near,
            facts.clickedAt.milliseconds,
            click,
            address.exact,
            ClickFingerprints.marks(entries.map(\.key))
        )
    }

    /// Closes a click to checks, under all its fingerprints; false when it was closed before.
    func close(
        _ rows: ClickFingerprints,
        as reason: NoMatchReason,
        at closedAt: Timestamp,
        by caller: KeyedHash? = nil
    ) throws(SQLiteError) -> Bool {
        var wasOpen = false
        for fingerprint in rows.fingerprints {
            try connection.statement(FingerprintSQL.close).run(
                rows.scope.number,
                fingerprint.index,
                rows.clickedAt.milliseconds,
                rows.click,
                closedAt.milliseconds,
                reason.rawValue,
                caller?.index
            )
            if connection.changeCount > 0 { wasOpen = true }
        }
        return wasOpen
    }

    /// Takes a click whose window has ended from those that a check weighs by their address.
    func removeAddress(_ rows: ClickFingerprints) throws(SQLiteError) {
        guard let near = rows.nearAddress else { return }
        try connection.statement(FingerprintSQL.removeAddress).run(
            rows.scope.number,
            near,
            rows.clickedAt.milliseconds,
            rows.click
        )
    }

    /// Takes a click that is to be deleted from all that checks look into.
    func forget(_ rows: ClickFingerprints, isOpen: Bool) throws(SQLiteError) {
        let claimedAt = try connection.statement(FingerprintSQL.claimedAt).first(rows.click) { $0.integer(0) }
        for fingerprint in rows.fingerprints {
            if isOpen {
                try connection.statement(FingerprintSQL.removeOpen).run(
                    rows.scope.number,
                    fingerprint.index,
                    rows.clickedAt.milliseconds,
                    rows.click
                )
            }
            try connection.statement(FingerprintSQL.removeClosed).run(
                rows.scope.number,
                fingerprint.index,
                claimedAt,
                rows.expiresAt.milliseconds,
                rows.clickedAt.milliseconds,
                rows.click
            )
        }
        try removeAddress(rows)
    }

    private func insertClosed(
        _ click: Int64,
        _ scope: Scope,
        _ fingerprint: KeyedHash,
        _ clickedAt: Timestamp
    ) throws(SQLiteError) {
        try connection.statement(FingerprintSQL.insertClosed).run(
            scope.number,
            fingerprint.index,
            clickedAt.milliseconds,
            click,
            fingerprint.rest,
            NoMatchReason.robotClick.rawValue
        )
    }
}

enum FingerprintSQL {
    static let open: StaticString = """
        INSERT INTO click_index (
            scope, hash, state, since, click, hash_rest, expires_at, visit, platform_form, weight,
            exact_address, near_address, visitor, destination, campaign, os_release, signal_marks
        ) VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
        """
    /// What says how crowded a fingerprint is stays: platform and form, weight, visitor.
    static let close: StaticString = """
        UPDATE click_index
        SET state = 1, since = ?5, expires_at = NULL, visit = NULL, clicked_at = ?3, closed_as = ?6, caller = ?7,
            exact_address = NULL, near_address = NULL, destination = NULL, campaign = NULL, os_release = NULL, signal_marks = NULL
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4
        """
    static let removeOpen: StaticString = """
        DELETE FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4
        """
    static let insertClosed: StaticString = """
        INSERT INTO click_index (
            scope, hash, state, since, click, hash_rest, clicked_at, closed_as
        ) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?3, ?6)
        """
    /// A click is closed at one of three moments: claimed, expired, or as of its own.
    static let removeClosed: StaticString = """
        DELETE FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 1 AND since IN (?3, ?4, ?5) AND click = ?6
        """
    static let claimedAt: StaticString = "SELECT claimed_at FROM claims WHERE click = ?1"
    static let addAddress: StaticString = """
        INSERT INTO click_addresses (scope, near_address, clicked_at, click, exact_address, marks)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
    static let removeAddress: StaticString = """
        DELETE FROM click_addresses WHERE scope = ?1 AND near_address = ?2 AND clicked_at = ?3 AND click = ?4
        """
}
