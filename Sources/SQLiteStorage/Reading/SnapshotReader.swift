internal import Attribution
internal import SQLite
internal import Storage

/// A check's queries, in the snapshot that its connection holds.
struct SnapshotReader {
    let reader: SQLiteReader
    let scope: Scope
    let now: Timestamp
    let ledger: AnswerLedger
    let learnt: LearningState
    /// Asks for a summary of a key.
    let requestSummary: (KeySummary.Key) -> Void

    private var connection: SQLiteConnection { reader.connection }
}

extension SnapshotReader: EvidenceSource {
    typealias Failure = SQLiteError

    func summary(of key: KeyedHash) -> KeySummary? {
        learnt.summary(of: KeySummary.Key(scope: scope, fingerprint: key), at: now)
    }

    func renewSummary(of key: KeyedHash) throws(SQLiteError) -> Bool {
        let key = KeySummary.Key(scope: scope, fingerprint: key)
        guard learnt.isAtOnce else {
            requestSummary(key)
            return false
        }
        learnt.publish(try reader.summary(of: key, at: now), of: key)
        return true
    }

    /// One statement for all of it: most checks find nothing, and what they cost is beginning a statement.
    func read(_ selection: inout KeySelection) throws(SQLiteError) {
        let statement = try connection.statement(SnapshotSQL.ofKey)
        try statement.bind(scope.number, selection.key.index, selection.key.rest)
        defer { statement.reset() }
        while try statement.step() {
            var row = StatementRow(statement)
            let closedAs: String? = row.get("closed_as")
            let click = try row.record(IndexRecord.self)
            guard let closedAs else {
                guard selection.add(click) else { break }
                continue
            }
            guard let reason = NoMatchReason(rawValue: closedAs) else {
                throw .corrupt("reading why a click was closed")
            }
            // `since` is when it was closed.
            let closed = KeySelection.Closed(
                RowPosition(clickedAt: row.get("clicked_at"), click: click.click),
                closedAt: click.clickedAt.milliseconds,
                reason: reason,
                mayBeUndelivered: row.get("is_undelivered")
            )
            selection.add(closed)
        }
    }

    func read(_ selection: inout AddressSelection) throws(SQLiteError) {
        let (address, key) = (selection.address, selection.key)
        try connection.statement(SnapshotSQL.aroundAddress)
            .forEach(scope.number, address.near, AddressSelection.maximumRead) { row in
                var row = StatementRow(row)
                let position = RowPosition(clickedAt: row.get("clicked_at"), click: row.get("click"))
                let exact: UInt64 = row.get("exact_address")
                selection.add(
                    position,
                    isExact: exact == address.exact,
                    isOfKey: HashMarks(bytes: row.get("marks")).mayContain(key)
                )
            }
    }

    func lookUp(_ clicks: [AddressSelection.Wanted], for selection: inout AddressSelection)
        throws(SQLiteError)
    {
        for wanted in clicks {
            let position = wanted.position
            if let click = try openClick(position, selection.key), selection.add(click) { continue }
            guard wanted.isExact else { continue }
            let claimedAt = try connection.statement(IndexSQL.claimedAt).first(position.click) {
                Timestamp(milliseconds: $0.integer(0))
            }
            if let claimedAt { selection.addClaimed(position, at: claimedAt) }
        }
    }

    private func openClick(_ position: RowPosition, _ key: KeyedHash) throws(SQLiteError) -> IndexRecord? {
        try connection.statement(SnapshotSQL.openClick).first(
            IndexRecord.self,
            scope.number,
            key.index,
            position.clickedAt,
            position.click,
            key.rest
        )
    }

    func clickCount(around address: AddressHashes) throws(SQLiteError) -> AddressClickCount {
        let key = AddressClickCount.Key(scope: scope, address: address)
        if let known = learnt.clickCount(key, at: now) { return known }
        var builder = AddressClickCount.Builder(at: now)
        try connection.statement(SnapshotSQL.clicksNearAddress)
            .forEach(scope.number, address.near, AddressClickCount.Builder.maximumRead) { row in
                builder.add(
                    clickedAt: Timestamp(milliseconds: row.integer(0)),
                    isExact: UInt64(bitPattern: row.integer(1)) == address.exact
                )
            }
        let count = builder.finished()
        learnt.publish(count, of: key)
        return count
    }

    func liveClickCount() throws(SQLiteError) -> Double {
        try learnt.liveClicks(of: scope, at: now) { () throws(SQLiteError) in
            try reader.liveClickCount(of: scope, at: now)
        }
    }

    func learntSum(_ family: CounterFamily, _ key: UInt64) throws(SQLiteError) -> Double {
        try connection.statement(LearntSQL.find).first(scope.number, Int64(family.rawValue), key) {
            $0.real(0)
        } ?? 0
    }
}

extension SnapshotReader: StorageReader {
    func claim(ofInstallOf check: Check) throws(SQLiteError) -> ClaimRecord? {
        try reader.claim(ofInstall: check.installs, in: scope, at: check.at)
    }

    func click(_ id: ClickID) throws(SQLiteError) -> ClickRecord? {
        try reader.click(id)
    }

    func claim(of click: Int64) throws(SQLiteError) -> ClaimRecord? {
        try reader.claim(ofClick: click)
    }

    func answer(of record: ClaimRecord, to check: Check) throws(SQLiteError) -> Claim? {
        try reader.claim(record, of: check.app)
    }

    func isOpen(_ click: ClickRecord) throws(SQLiteError) -> Bool {
        // Found by its token alone.
        guard let hash = click.hashes.first else { return true }
        return try openClick(
            RowPosition(clickedAt: click.facts.clickedAt.milliseconds, click: click.number),
            hash
        ) != nil
    }

    func undeliveredClaim(of key: KeyedHash) throws(SQLiteError) -> ClaimRecord? {
        try reader.undeliveredClaim(of: key, in: scope, at: now)
    }

    func claim(ofCallerOf check: Check, by key: KeyedHash) throws(SQLiteError) -> ClaimRecord? {
        try reader.claim(ofCallerOf: check, by: key, in: scope)
    }

    func hasClaim(of key: KeyedHash, since click: RowPosition) throws(SQLiteError) -> Bool {
        try connection.statement(SnapshotSQL.claimedSince)
            .first(scope.number, key.index, key.rest, click.clickedAt) { _ in true } ?? false
    }

    func model() throws(SQLiteError) -> MatchingModel {
        try learnt.model(of: scope, at: now, reader)
    }

    func wasAnswered(_ click: ClickID, before moment: UInt64) -> Bool {
        ledger.wasAnswered(click, before: moment)
    }
}

enum SnapshotSQL {
    /// The click that was closed last, then those that are not closed, newest first.
    ///
    /// A limit of -1 is none; it keeps the order, which SQLite may drop from a subquery without a limit.
    static let ofKey: SQL = """
        SELECT * FROM (
            SELECT closed_as, \(IndexRecord.columns), clicked_at, EXISTS (
                SELECT 1 FROM claims WHERE is_undelivered = 1 AND scope = ?1 AND hash = ?2
            ) AS is_undelivered
            FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 1 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT 1
        )
        UNION ALL
        SELECT * FROM (
            SELECT NULL, \(IndexRecord.columns), NULL, NULL
            FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 0 AND hash_rest = ?3
            ORDER BY since DESC, click DESC LIMIT -1
        )
        """
    static let openClick: SQL = """
        SELECT \(IndexRecord.columns) FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4 AND hash_rest = ?5
        """
    static let aroundAddress: SQL = """
        SELECT clicked_at, click, exact_address, marks FROM click_addresses
        WHERE scope = ?1 AND near_address = ?2 ORDER BY clicked_at DESC, click DESC LIMIT ?3
        """
    static let clicksNearAddress: SQL = """
        SELECT clicked_at, exact_address FROM click_addresses
        WHERE scope = ?1 AND near_address = ?2 ORDER BY clicked_at DESC, click DESC LIMIT ?3
        """
    /// A claimed click of a key that is not older than a moment, among the 512 that were closed last.
    static let claimedSince: SQL = """
        SELECT 1
        FROM (
            SELECT clicked_at, closed_as FROM click_index
            WHERE scope = ?1 AND hash = ?2 AND state = 1 AND hash_rest = ?3
            ORDER BY since DESC LIMIT 512
        )
        WHERE closed_as = 'already_claimed' AND clicked_at >= ?4
        LIMIT 1
        """
}
