internal import Attribution
internal import SQLite
internal import Storage

/// Reads what an explanation is made of.
struct ExplanationReader {
    let reader: SQLiteReader
    let apps: CheckedApps

    private var connection: SQLiteConnection { reader.connection }

    /// Records that are looked through for one that is not asked for by its identifier.
    private static let searched = 2_000_000
    /// Records after a claim among which its own is.
    private static let searchedAfterClaim = 50_000
    /// Clicks that are looked at for recent ones of the app.
    private static let recentScanned = 20_000

    func material(of reference: CheckReference) throws(SQLiteError) -> ExplanationInput? {
        guard let id = try find(reference),
            let row = try connection.statement(CheckReading.one).first(
                id,
                read: { row throws(SQLiteError) in try CheckRow(row) }
            ),
            let record = apps.check(row)
        else { return nil }
        if case .check(let wanted) = reference, wanted != record.id { return nil }
        return ExplanationInput(
            record: record,
            sameFingerprint: try sameFingerprint(row),
            named: try named(row),
            recent: try recent(row)
        )
    }

    private func find(_ reference: CheckReference) throws(SQLiteError) -> Int64? {
        switch reference {
        case .check(let id): return Int64(bitPattern: id.high)
        case .click(let click): return try find(click)
        case .request(let text):
            return try connection.statement(CheckReading.ofRequest).first(text, Self.searched) {
                $0.integer(0)
            }
        case .fingerprint(let keys):
            for key in keys {
                let found = try connection.statement(CheckReading.ofFingerprint)
                    .first(key.index, key.rest, Self.searched) { $0.integer(0) }
                if let found { return found }
            }
            return nil
        }
    }

    private func find(_ click: ClickID) throws(SQLiteError) -> Int64? {
        let claimedAt = try connection.statement(CheckReading.claimedAt).first(click.high) { $0.integer(0) }
        if let claimedAt {
            let first = RowIdentifier.first(at: Timestamp(milliseconds: claimedAt))
            let found = try connection.statement(CheckReading.ofClaim)
                .first(click.high, first, Self.searchedAfterClaim) { $0.integer(0) }
            if let found { return found }
        }
        return try connection.statement(CheckReading.ofClick).first(click.high, Self.searched) {
            $0.integer(0)
        }
    }

    private func sameFingerprint(_ row: CheckRow) throws(SQLiteError) -> [KnownClick] {
        guard let key = row.record.facts.fingerprint else { return [] }
        var clicks: [KnownClick] = []
        for state in 0...1 {
            let rows = try connection.statement(Self.ofFingerprint).all(
                row.record.scope.number,
                key.index,
                state,
                key.rest,
                ExplanationInput.sameFingerprintLimit
            ) { (click: $0.integer(0), isClaimed: $0.text(1) == NoMatchReason.alreadyClaimed.rawValue) }
            for (click, isClaimed) in rows {
                guard var known = try self.click(click, row) else { continue }
                known.isRetired = isClaimed && known.claimedAt == nil
                clicks.append(known)
            }
        }
        return clicks.sorted { ($0.clickedAt, $0.id) > ($1.clickedAt, $1.id) }
    }

    private func named(_ row: CheckRow) throws(SQLiteError) -> [KnownClick] {
        var clicks: [KnownClick] = []
        for id in [row.record.facts.click].compactMap(\.self) + row.record.facts.shares.map(\.click)
        where !clicks.contains(where: { $0.id.high == id.high }) {
            if let click = try click(Int64(bitPattern: id.high), row) { clicks.append(click) }
        }
        return clicks
    }

    private func click(_ id: Int64, _ row: CheckRow) throws(SQLiteError) -> KnownClick? {
        try connection.statement(Self.one).first(id) { click throws(SQLiteError) in
            try Self.known(click, row.record.facts.address)
        }
    }

    private func recent(_ row: CheckRow) throws(SQLiteError) -> [KnownClick] {
        // Those of the same second may have come just before it.
        let end = RowIdentifier.first(at: row.record.facts.at.advanced(byMilliseconds: 1000))
        return try connection.statement(Self.recent).all(
            end,
            Self.recentScanned,
            row.record.scope.number,
            ExplanationInput.recentLimit
        ) { click throws(SQLiteError) in
            try Self.known(click, row.record.facts.address)
        }
    }

    static func known(_ statement: Statement, _ launch: AddressHashes? = nil) throws(SQLiteError)
        -> KnownClick
    {
        var row = StatementRow(statement)
        let record = try row.record(ClickRecord.self)
        return KnownClick(
            id: record.id,
            clickedAt: record.facts.clickedAt,
            expiresAt: record.expiresAt,
            campaign: record.facts.campaignKey,
            platform: record.facts.platform,
            isRobot: record.facts.isRobot,
            claimedAt: row.get("claimed_at"),
            claimedBy: row.get("method"),
            agreement: AddressHashes.agreement(record.address, launch),
            canonicalText: record.canonicalText
        )
    }

    static let ofFingerprint: SQL = """
        SELECT click, closed_as FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = ?3 AND hash_rest = ?4
        ORDER BY since DESC, click DESC LIMIT ?5
        """
    static let one: SQL = """
        SELECT \(ClickRecord.columns, of: "clicks"), claimed_at, method
        FROM clicks LEFT JOIN claims ON click = id
        WHERE id = ?1
        """
    static let recent: SQL = """
        SELECT \(ClickRecord.columns, of: "newest"), claimed_at, method
        FROM (SELECT * FROM clicks WHERE id < ?1 ORDER BY id DESC LIMIT ?2) AS newest
            LEFT JOIN claims ON claims.click = newest.id
        WHERE newest.scope = ?3 AND signals IS NOT NULL AND is_robot = 0
        LIMIT ?4
        """
}
