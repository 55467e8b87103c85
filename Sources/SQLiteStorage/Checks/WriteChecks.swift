internal import Attribution
internal import SQLite
internal import Storage

/// Writing what loops have noted of checks.
extension WriteContext {
    func write(_ notes: PendingCheckRecords) throws(SQLiteError) {
        for record in notes.records { try insert(record.facts, record.scope) }
        if notes.unrecorded > 0 {
            try connection.statement(CheckSQL.addProgress).run("unrecorded_checks", notes.unrecorded)
        }
        for (slot, expected) in notes.expected {
            var campaign: String?
            if slot.campaign != .all {
                guard let name = try name(of: slot, expected) else { continue }
                let day = Granularity.day.start(of: slot.hour)
                campaign = try admit(name, .campaign, of: slot.scope, in: day)
            }
            counts.addExpected(expected.sum, of: slot.scope, campaign: campaign, at: slot.hour)
        }
        for (slot, bin) in notes.calibration {
            counts.addCalibration(bin, at: slot.index, of: slot.scope, on: slot.day)
        }
        storedChecks += Int64(notes.records.count)
    }

    /// Stores the record of a check; ``storedChecks`` counts it once nothing of the request can fail any more.
    func insert(_ facts: CheckFacts, _ scope: Scope) throws(SQLiteError) {
        let id = CheckID(high: UInt64(bitPattern: try nextCheck(at: facts.at)), low: checkWord)
        try connection.statement(CheckSQL.insert).run(CheckRecord(id: id, scope: scope, facts: facts))
    }

    /// The name of a slot's campaign; nil for all of them, and where it can no longer be found.
    private func name(of slot: PendingCheckRecords.Slot, _ expected: PendingCheckRecords.Expected)
        throws(SQLiteError)
        -> String?
    {
        switch slot.campaign {
        case .all: nil
        case .named(let name): name
        case .hashed(let hash): try name(ofCampaign: hash, slot.scope, expected)
        }
    }

    /// Looked up once, in one of the campaign's clicks.
    private func name(ofCampaign hash: UInt64, _ scope: Scope, _ expected: PendingCheckRecords.Expected)
        throws(SQLiteError) -> String?
    {
        if let known = campaignNames[hash] { return known }
        var found: String?
        if let click = expected.click {
            found = try connection.statement(CheckSQL.campaign).first(click) { $0.optionalText(0) } ?? nil
        } else if let key = expected.fingerprint {
            let statement = try connection.statement(CheckSQL.campaignOfHash)
            found = try statement.first(scope.number, key.index, key.rest, hash) { $0.optionalText(0) } ?? nil
        }
        // Forgotten all at once, because they are soon found again.
        if campaignNames.count >= Self.mostCampaignNames { campaignNames = [:] }
        if let found { campaignNames[hash] = found }
        return found
    }

    private static let mostCampaignNames = 20_000

    /// Deletes the oldest records: those of checks before `moment`, and those beyond what is kept at all.
    ///
    /// - Returns: whether there may be more.
    func deleteChecks(before moment: Timestamp, limit: Int) throws(SQLiteError) -> Bool {
        let kept = try connection.statement(CheckSQL.kept).first { $0.integer(0) } ?? 0
        let excess = max(0, kept - CheckSQL.mostKept)
        let first = RowIdentifier.first(at: moment)
        try connection.statement(CheckSQL.deleteOldest).run(first, limit)
        var deleted = Int64(connection.changeCount)
        if deleted == 0, excess > 0 {
            try connection.statement(CheckSQL.deleteOldest).run(Int64.max, min(Int64(limit), excess))
            deleted = Int64(connection.changeCount)
        }
        guard deleted > 0 else { return false }
        try connection.statement(CheckSQL.addProgress).run("kept_checks", -deleted)
        return deleted >= min(Int64(limit), max(excess, 1))
    }
}

/// The first halves of identifiers, as row ids: 48 bits of milliseconds and a 16-bit counter.
enum RowIdentifier {
    /// The first one of a moment.
    static func first(at moment: Timestamp) -> Int64 {
        // 46 bits reach to the year 4199; what a wrong clock says beyond leaves room to count on.
        min(max(moment.milliseconds, 0), 1 << 46) << 16
    }

    /// Later than all before, so that those of one millisecond order by arrival.
    static func next(after last: Int64, at moment: Timestamp) -> Int64 {
        max(last + 1, first(at: moment))
    }
}

enum CheckSQL {
    /// Records that are kept at most, whatever retention says: about a gigabyte.
    static let mostKept: Int64 = 5_000_000

    static let newest: SQL = "SELECT id FROM checks ORDER BY id DESC LIMIT 1"
    static let kept: SQL = "SELECT value FROM progress WHERE name = 'kept_checks'"
    static let addProgress: SQL = """
        INSERT INTO progress VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value + excluded.value
        """
    static let insert = SQL.insert("checks", CheckRecord.columns)
    static let deleteOldest: SQL = """
        DELETE FROM checks WHERE id IN (SELECT id FROM checks WHERE id < ?1 ORDER BY id LIMIT ?2)
        """
    static let campaign: SQL = "SELECT campaign_key FROM clicks WHERE id = ?1"
    /// Looks at so many clicks of the fingerprint at most as a claim does.
    static let campaignOfHash: SQL = """
        SELECT campaign_key
        FROM (
            SELECT click, campaign FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 4096
        ) AS open CROSS JOIN clicks ON clicks.id = open.click
        WHERE open.campaign = ?4
        LIMIT 1
        """
}
