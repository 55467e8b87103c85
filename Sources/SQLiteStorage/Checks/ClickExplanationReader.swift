internal import Attribution
internal import SQLite
internal import Storage

/// Reads what is told of a click that no check was answered with.
struct ClickExplanationReader {
    let reader: SQLiteReader
    let apps: CheckedApps

    private var connection: SQLiteConnection { reader.connection }

    /// Records that are looked through, from the click on.
    private static let searched = 500_000

    /// What a check is compared with.
    private struct Wanted {
        let click: ClickID
        let address: AddressHashes?
        let keys: Set<UInt64>
    }

    func material(of id: ClickID) throws(SQLiteError) -> ClickExplanationInput? {
        guard let record = try reader.click(id),
            let owner = apps.owner(of: record.scope),
            var click = try connection.statement(ExplanationReader.one)
                .first(id.high, read: { row throws(SQLiteError) in try ExplanationReader.known(row) })
        else { return nil }
        let first = record.hashes.first
        let index = try first.flatMap { (key) throws(SQLiteError) in
            try connection.statement(Self.indexed).first(
                record.scope.number,
                key.index,
                click.clickedAt.milliseconds,
                click.expiresAt.milliseconds,
                click.claimedAt?.milliseconds,
                record.number,
                key.rest
            ) { (isOpen: $0.integer(0) == 0, closedAs: $0.optionalText(1)) }
        }
        click.isRetired =
            click.claimedAt == nil && index?.closedAs == NoMatchReason.alreadyClaimed.rawValue
        var material = ClickExplanationInput(
            click,
            app: owner.app,
            isTest: owner.isTest,
            keyCount: record.hashes.count,
            isIndexed: index != nil || first == nil
        )
        try addNear(record, to: &material)
        return material
    }

    private func addNear(
        _ record: ClickRecord,
        to material: inout ClickExplanationInput
    ) throws(SQLiteError) {
        let scope = record.scope
        let wanted = Wanted(
            click: record.id,
            address: record.address,
            keys: Set(record.hashes.map(\.index))
        )
        var found: [(relation: RelatedCheck.Relation, id: Int64)] = []
        try connection.statement(Self.checks).forEach(
            RowIdentifier.first(at: record.facts.clickedAt),
            // Records are written a little later than their checks.
            RowIdentifier.first(at: record.expiresAt.advanced(byMilliseconds: 60_000)),
            Self.searched
        ) { row in
            material.searchedChecks += 1
            guard row.integer(1) == scope.number, let relation = Self.relation(row, wanted) else { return }
            found.append((relation, row.integer(0)))
            // The nearest of those that are kept are told; the rest is only in the way.
            guard found.count >= 4096 else { return }
            found = Self.nearest(found)
        }
        material.hasSearchedAll = material.searchedChecks < Self.searched
        for (relation, check) in Self.nearest(found) {
            let record = try connection.statement(CheckReading.one).first(check) { row throws(SQLiteError) in
                apps.check(try CheckRow(row))
            }
            if let record = record ?? nil { material.near.append(RelatedCheck(record, relation)) }
        }
    }

    private static func nearest(_ found: [(relation: RelatedCheck.Relation, id: Int64)])
        -> [(relation: RelatedCheck.Relation, id: Int64)]
    {
        Array(
            found.sorted { ($0.relation, $0.id) < ($1.relation, $1.id) }.prefix(
                ClickExplanationInput.nearLimit
            )
        )
    }

    private static func relation(_ row: Statement, _ wanted: Wanted) -> RelatedCheck.Relation? {
        func word(_ column: Int32) -> UInt64? {
            row.isNull(column) ? nil : UInt64(bitPattern: row.integer(column))
        }
        if word(2) == wanted.click.high { return .weighed }
        if CheckRecord.unpackedShares(row.bytes(3)).contains(where: { $0.click.high == wanted.click.high }) {
            return .weighed
        }
        if let key = word(4), wanted.keys.contains(key) { return .sameFingerprint }
        guard let address = wanted.address else { return nil }
        if word(5) == address.exact { return .sameAddress }
        return word(6) == address.near ? .nearAddress : nil
    }

    static let checks: SQL = """
        SELECT id, scope, click, shares, fingerprint, exact_address, near_address FROM checks
        WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3
        """
    /// Where the click stands under a fingerprint: open since its own moment, or closed at one of three.
    static let indexed: SQL = """
        SELECT state, closed_as FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state IN (0, 1) AND since IN (?3, ?4, ?5) AND click = ?6
            AND hash_rest = ?7
        LIMIT 1
        """
}
