internal import Attribution
internal import SQLite
internal import Storage

/// The clicks that came from near a launch's address: those among them that it can have come from, and how many others
/// there are.
struct AddressReader {
    /// Clicks by which the launch's key is found, live or claimed.
    private(set) var candidates: [Candidate] = []
    private(set) var clicksExact = 0.0
    private(set) var clicksNear = 0.0

    /// Clicks of any key that are looked at, the newest ones.
    private static let most = 256

    /// The address is the launch's, and the look what was found of its key: none of its clicks is told twice.
    init(
        _ address: AddressHashes,
        _ look: IndexKeyReader,
        _ scope: Scope,
        at moment: Timestamp,
        _ learnt: LearningState,
        on connection: SQLiteConnection
    ) throws(SQLiteError) {
        var told = Set(look.open.map(\.click))
        var (exact, near) = (0, 0)
        var claimedExact = 0
        let statement = try connection.statement(Self.around)
        let mark = UInt32(truncatingIfNeeded: look.key.index)
        var found: [(position: RowPosition, isExact: Bool)] = []
        try statement.forEach(scope.number, address.near, Self.most) { row throws(SQLiteError) in
            let position = RowPosition(clickedAt: row.integer(0), click: row.integer(1))
            let isExact = UInt64(bitPattern: row.integer(2)) == address.exact
            near += 1
            if isExact { exact += 1 }
            if Self.holds(mark, row.bytes(3)), told.insert(position.click).inserted {
                found.append((position, isExact))
            }
        }
        for position in look.places?.newest(near: address.near, atMost: CandidateEvidence.maximumListed) ?? []
        where told.insert(position.click).inserted {
            // Of one that was claimed meanwhile is not known whether it agrees exactly: it tells nothing.
            found.append((position, false))
        }
        for (position, isExact) in found.prefix(CandidateEvidence.maximumListed) {
            if let row = try Self.open(position, look.key, scope, at: moment, on: connection) {
                candidates.append(row.candidate(AddressHashes.agreement(row.address, address)))
            } else if isExact, let claimedAt = try Self.claim(of: position.click, on: connection) {
                claimedExact += 1
                candidates.append(Self.claimed(position, at: claimedAt))
            }
        }
        clicksExact = Double(max(0, exact - claimedExact))
        clicksNear = Double(max(0, near - claimedExact))
        guard near >= Self.most else { return }
        let crowd = try learnt.crowd(at: address, scope, at: moment, on: connection)
        clicksExact = max(clicksExact, crowd.exact)
        clicksNear = max(clicksNear, crowd.near)
    }

    private static func holds(_ mark: UInt32, _ marks: [UInt8]) -> Bool {
        var start = 0
        while start + 4 <= marks.count {
            let word =
                UInt32(marks[start]) | UInt32(marks[start + 1]) << 8 | UInt32(marks[start + 2]) << 16
                | UInt32(marks[start + 3]) << 24
            if word == mark { return true }
            start += 4
        }
        return false
    }

    private static func open(
        _ position: RowPosition,
        _ key: KeyedHash,
        _ scope: Scope,
        at moment: Timestamp,
        on connection: SQLiteConnection
    ) throws(SQLiteError) -> OpenClickRow? {
        let row = try connection.statement(openRow).first(
            scope.number,
            key.index,
            position.clickedAt,
            position.click,
            key.rest
        ) { row in row.integer(2) >= moment.milliseconds ? OpenClickRow(row) : nil }
        return row ?? nil
    }

    private static func claim(of click: Int64, on connection: SQLiteConnection) throws(SQLiteError)
        -> Timestamp?
    {
        try connection.statement(FingerprintSQL.claimedAt).first(click) {
            Timestamp(milliseconds: $0.integer(0))
        }
    }

    /// A click that another launch has consumed tells of its visitor alone that he has launched.
    private static func claimed(_ position: RowPosition, at moment: Timestamp) -> Candidate {
        Candidate(
            click: ClickID(high: UInt64(bitPattern: position.click), low: 0),
            clickedAt: Timestamp(milliseconds: position.clickedAt),
            destination: CreditedDestination(url: 0, campaign: 0),
            platform: .unknown,
            form: nil,
            address: .exact,
            visitor: 0,
            hasAddress: true,
            claimedAt: moment
        )
    }

    static let around: StaticString = """
        SELECT clicked_at, click, exact_address, marks FROM click_addresses
        WHERE scope = ?1 AND near_address = ?2 ORDER BY clicked_at DESC, click DESC LIMIT ?3
        """
    static let openRow: StaticString = """
        SELECT click, since, expires_at, closed_as, platform_form, weight, exact_address, near_address, visitor,
            destination, campaign, os_release, signal_marks
        FROM click_index
        WHERE scope = ?1 AND hash = ?2 AND state = 0 AND since = ?3 AND click = ?4 AND hash_rest = ?5
        """
}
