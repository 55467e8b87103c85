internal import Attribution
internal import SQLite

/// What leads from a click to its rows among the fingerprints that checks look into.
struct ClickFingerprints {
    let click: Int64
    let scope: Scope
    let clickedAt: Timestamp
    let expiresAt: Timestamp
    let visit: KeyedHash
    let fingerprints: [KeyedHash]

    /// Reads columns `id, scope, clicked_at, expires_at, visit, visit_rest, fingerprints`.
    init(_ row: Statement) {
        click = row.integer(0)
        scope = Scope(number: row.integer(1))
        clickedAt = Timestamp(milliseconds: row.integer(2))
        expiresAt = Timestamp(milliseconds: row.integer(3))
        visit = KeyedHash(
            index: UInt64(bitPattern: row.integer(4)),
            rest: UInt64(bitPattern: row.integer(5))
        )
        fingerprints = Self.unpacked(row.bytes(6))
    }

    static func find(_ click: Int64, on connection: Connection) throws(SQLiteError) -> ClickFingerprints? {
        try connection.statement(select).first(click) { ClickFingerprints($0) }
    }

    /// Both words of each, the lowest byte first.
    static func packed(_ fingerprints: [FingerprintEntry]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fingerprints.count * 16)
        for word in fingerprints.lazy.flatMap({ [$0.key.index, $0.key.rest] }) {
            for shift in stride(from: 0, to: 64, by: 8) as StrideTo<UInt64> {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    static func unpacked(_ bytes: [UInt8]) -> [KeyedHash] {
        func word(at start: Int) -> UInt64 {
            bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        return stride(from: 0, to: bytes.count - 15, by: 16).map { start in
            KeyedHash(index: word(at: start), rest: word(at: start + 8))
        }
    }

    static let select: StaticString = """
        SELECT id, scope, clicked_at, expires_at, visit, visit_rest, fingerprints FROM clicks WHERE id = ?1
        """
}

extension NewClick {
    /// Two forms may make one fingerprint: the click is found by it once.
    var distinctFingerprints: [FingerprintEntry] {
        guard fingerprints.count > 1 else { return fingerprints }
        var seen: Set<UInt64> = []
        return fingerprints.filter { seen.insert($0.key.index).inserted }
    }
}

/// Opening a click to checks, and closing it.
extension WriteContext {
    /// Lets checks find a new click; a robot's is closed from the beginning.
    func open(_ click: Int64, _ new: NewClick, _ scope: Scope) throws(SQLiteError) {
        let facts = new.facts
        for entry in new.distinctFingerprints {
            filters.add(entry.key.index)
            guard !facts.isRobot else {
                try insertClosed(click, scope, entry.key, facts.clickedAt, .robotClick, at: facts.clickedAt)
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
                entry.form?.rawValue,
                entry.weight
            )
        }
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
            try removeOpen(rows, fingerprint)
            guard connection.changeCount > 0 else { continue }
            wasOpen = true
            try insertClosed(
                rows.click,
                rows.scope,
                fingerprint,
                rows.clickedAt,
                reason,
                at: closedAt,
                by: caller
            )
        }
        return wasOpen
    }

    /// Takes a click that is to be deleted from all that checks look into.
    func forget(_ rows: ClickFingerprints, isOpen: Bool) throws(SQLiteError) {
        let claimedAt = try connection.statement(FingerprintSQL.claimedAt).first(rows.click) { $0.integer(0) }
        for fingerprint in rows.fingerprints {
            if isOpen { try removeOpen(rows, fingerprint) }
            try connection.statement(FingerprintSQL.removeClosed).run(
                rows.scope.number,
                fingerprint.index,
                claimedAt,
                rows.expiresAt.milliseconds,
                rows.clickedAt.milliseconds,
                rows.click
            )
        }
    }

    private func removeOpen(_ rows: ClickFingerprints, _ fingerprint: KeyedHash) throws(SQLiteError) {
        try connection.statement(FingerprintSQL.removeOpen).run(
            rows.scope.number,
            fingerprint.index,
            rows.clickedAt.milliseconds,
            rows.click
        )
    }

    private func insertClosed(
        _ click: Int64,
        _ scope: Scope,
        _ fingerprint: KeyedHash,
        _ clickedAt: Timestamp,
        _ reason: NoMatchReason,
        at closedAt: Timestamp,
        by caller: KeyedHash? = nil
    ) throws(SQLiteError) {
        try connection.statement(FingerprintSQL.insertClosed).run(
            scope.number,
            fingerprint.index,
            closedAt.milliseconds,
            click,
            fingerprint.rest,
            clickedAt.milliseconds,
            reason.rawValue,
            caller?.index,
            caller?.rest
        )
    }
}

enum FingerprintSQL {
    static let open: StaticString = """
        INSERT INTO open_fingerprints (
            scope, fingerprint, clicked_at, click, fingerprint_rest, expires_at, visit, form, weight
        ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """
    static let removeOpen: StaticString = """
        DELETE FROM open_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND clicked_at = ?3 AND click = ?4
        """
    static let insertClosed: StaticString = """
        INSERT INTO closed_fingerprints (
            scope, fingerprint, closed_at, click, fingerprint_rest, clicked_at, closed_as, caller, caller_rest
        ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        """
    /// A click is closed at one of three moments: claimed, expired, or as of its own.
    static let removeClosed: StaticString = """
        DELETE FROM closed_fingerprints
        WHERE scope = ?1 AND fingerprint = ?2 AND closed_at IN (?3, ?4, ?5) AND click = ?6
        """
    static let claimedAt: StaticString = "SELECT claimed_at FROM claims WHERE click = ?1"
}
