internal import Attribution
internal import SQLite
internal import Storage

/// An app's clicks in the order in which they were recorded.
struct HistoryClicks {
    private let facts: HistoryFacts
    private var remaking: FingerprintReconstruction
    private var page: ArraySlice<RecordedClick> = []
    private var last: Int64 = .min
    private var hasEnded = false

    private static let pageLength = 1000

    init(_ facts: HistoryFacts, _ remaking: FingerprintReconstruction) {
        self.facts = facts
        self.remaking = remaking
    }

    var needsMore: Bool { page.isEmpty && !hasEnded }
    var first: RecordedClick? { page.first }

    mutating func takeFirst() -> RecordedClick? { page.popFirst() }

    mutating func read(on connection: SQLiteConnection, _ gaps: inout HistoryGaps) throws(SQLiteError) {
        var clicks: [RecordedClick] = []
        try connection.statement(HistorySQL.clicks).forEach(
            last,
            facts.lastClick,
            facts.scope.number,
            Self.pageLength
        ) { row in
            last = row.integer(0)
            clicks.append(click(row, &gaps))
        }
        hasEnded = clicks.count < Self.pageLength
        page = clicks[...]
    }

    private mutating func click(_ row: Statement, _ gaps: inout HistoryGaps) -> RecordedClick {
        func word(_ column: Int32) -> UInt64 { UInt64(bitPattern: row.integer(column)) }
        let platform = Platform(rawValue: row.text(6)) ?? .unknown
        let remade = remaking.fingerprints(
            ClickFingerprints.unpacked(row.bytes(10)),
            text: row.optionalText(11),
            osVersion: row.optionalText(7).flatMap { OSVersion($0) },
            platform: platform
        )
        var click = RecordedClick(
            name: word(0),
            at: Timestamp(milliseconds: row.integer(1)),
            platform: platform,
            fingerprints: remade.all,
            address: row.isNull(12) ? nil : AddressHashes(exact: word(12), near: word(13)),
            visitor: row.isNull(14) ? word(9) : word(14),
            destination: CreditedDestination(
                destination: row.text(4),
                campaign: row.optionalText(5)
            ),
            window: AttributionWindow(seconds: row.integer(3)),
            signals: remade.signals,
            isRobot: row.integer(8) != 0
        )
        click.recordedAt = Timestamp(milliseconds: row.integer(2))
        click.visit = word(9)
        gaps.clicks += 1
        if row.isNull(14) { gaps.clicksWithoutVisitor += 1 }
        if remade.missing > 0 { gaps.clicksNotRemade += 1 }
        if click.address == nil { gaps.clicksWithoutAddress += 1 }
        guard let claimedAt = row.optionalInteger(15).map(Timestamp.init(milliseconds:)) else { return click }
        // Of a launch before the first that is recorded.
        if facts.firstCheckAt.map({ claimedAt < $0 }) ?? true {
            click.consumedAt = claimedAt
            gaps.clicksConsumedBefore += 1
        } else {
            gaps.claims += 1
        }
        return click
    }
}
