internal import Attribution
internal import SQLite
internal import Storage

/// A click that a launch has named, as far as the question goes whether it can be matched.
struct NamedClick {
    let id: Int64
    let scope: Scope
    let clickedAt: Int64
    let expiresAt: Timestamp
    let isRobot: Bool
    /// Whether its visitor asked not to be tracked, and so is never matched, not by its identifier either.
    let isCounted: Bool
    /// What its rows in the index begin with; nil for a click that can be found by its token alone.
    let firstKey: KeyedHash?

    /// Nil where there is none with the whole of the identifier.
    static func find(_ click: ClickID, on connection: SQLiteConnection) throws(SQLiteError) -> NamedClick? {
        try connection.statement(select).first(click.high, click.low) { NamedClick($0) }
    }

    private init(_ row: Statement) {
        id = row.integer(0)
        scope = Scope(number: row.integer(1))
        clickedAt = row.integer(2)
        expiresAt = Timestamp(milliseconds: row.integer(3))
        isRobot = row.integer(4) != 0
        isCounted = row.optionalText(6).flatMap { ClickBasis(markedIn: $0) } == .counted
        firstKey = ClickFingerprints.unpacked(row.bytes(5)).first
    }

    /// False for one that was retired with another.
    func isOpen(on connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        guard let firstKey else { return true }
        let row = try connection.statement(AddressReader.openRow).first(
            scope.number,
            firstKey.index,
            clickedAt,
            id,
            firstKey.rest
        ) { $0.integer(0) }
        return row != nil
    }

    static let select: StaticString = """
        SELECT id, scope, clicked_at, expires_at, is_robot, fingerprints, signals FROM clicks
        WHERE id = ?1 AND id_low = ?2
        """
}
