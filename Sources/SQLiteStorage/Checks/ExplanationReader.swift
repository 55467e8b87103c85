internal import Attribution
internal import SQLite
internal import Storage

/// Reads what an explanation is made of.
struct ExplanationReader {
    let connection: SQLiteConnection
    let apps: CheckedApps

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
            let record = apps.record(row)
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
        guard let key = row.facts.fingerprint else { return [] }
        var clicks: [KnownClick] = []
        for state in 0...1 {
            let rows = try connection.statement(Self.ofFingerprint).all(
                row.scope.number,
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
        for id in [row.facts.click].compactMap(\.self) + row.facts.shares.map(\.click)
        where !clicks.contains(where: { $0.id.high == id.high }) {
            if let click = try click(Int64(bitPattern: id.high), row) { clicks.append(click) }
        }
        return clicks
    }

    private func click(_ id: Int64, _ row: CheckRow) throws(SQLiteError) -> KnownClick? {
        try connection.statement(Self.one).first(id) { Self.known($0, row.facts.address) }
    }

    private func recent(_ row: CheckRow) throws(SQLiteError) -> [KnownClick] {
        // Those of the same second may have come just before it.
        let end = RowIdentifier.first(at: row.facts.at.advanced(byMilliseconds: 1000))
        return try connection.statement(Self.recent).all(
            end,
            Self.recentScanned,
            row.scope.number,
            ExplanationInput.recentLimit
        ) { Self.known($0, row.facts.address) }
    }

    static func known(_ row: Statement, _ launch: AddressHashes? = nil) -> KnownClick {
        func word(_ column: Int32) -> UInt64 { UInt64(bitPattern: row.integer(column)) }
        func moment(_ column: Int32) -> Timestamp { Timestamp(milliseconds: row.integer(column)) }
        let address = row.isNull(8) ? nil : AddressHashes(exact: word(8), near: word(9))
        return KnownClick(
            id: ClickID(high: word(0), low: word(1)),
            clickedAt: moment(2),
            expiresAt: moment(3),
            campaign: row.optionalText(4).flatMap { CampaignKey($0) },
            platform: Platform(rawValue: row.text(5)) ?? .unknown,
            isRobot: row.integer(6) != 0,
            claimedAt: row.isNull(10) ? nil : moment(10),
            claimedBy: row.optionalText(11).flatMap(AttributionMethod.init(rawValue:)),
            agreement: AddressHashes.agreement(address, launch),
            canonicalText: row.optionalText(7)
        )
    }

    static let ofFingerprint: StaticString = """
        SELECT click, closed_as FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = ?3 AND hash_rest = ?4
        ORDER BY since DESC, click DESC LIMIT ?5
        """
    static let one: StaticString = """
        SELECT id, id_low, clicked_at, expires_at, campaign_key, platform, is_robot, signals, exact_address,
            near_address, claimed_at, method
        FROM clicks LEFT JOIN claims ON click = id
        WHERE id = ?1
        """
    static let recent: StaticString = """
        SELECT id, id_low, clicked_at, expires_at, campaign_key, platform, is_robot, signals, exact_address,
            near_address, claimed_at, method
        FROM (SELECT * FROM clicks WHERE id < ?1 ORDER BY id DESC LIMIT ?2) AS newest
            LEFT JOIN claims ON claims.click = newest.id
        WHERE newest.scope = ?3 AND signals IS NOT NULL AND is_robot = 0
        LIMIT ?4
        """
}
