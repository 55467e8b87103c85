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
        ) { row throws(SQLiteError) in
            var row = StatementRow(row)
            let record = try row.record(ClickRecord.self)
            last = record.number
            clicks.append(click(record, claimedAt: row.get("claimed_at"), &gaps))
        }
        hasEnded = clicks.count < Self.pageLength
        page = clicks[...]
    }

    private mutating func click(_ record: ClickRecord, claimedAt: Timestamp?, _ gaps: inout HistoryGaps)
        -> RecordedClick
    {
        let facts = record.facts
        let remade = remaking.fingerprints(
            record.hashes,
            text: record.canonicalText,
            osVersion: facts.osVersion.flatMap { OSVersion($0) },
            platform: facts.platform
        )
        var click = RecordedClick(
            name: record.id.high,
            at: facts.clickedAt,
            platform: facts.platform,
            fingerprints: remade.all,
            address: record.address,
            visitor: record.visitor ?? record.visit.index,
            destination: CreditedDestination(facts),
            window: facts.window,
            signals: remade.signals,
            isRobot: facts.isRobot
        )
        click.recordedAt = facts.recordedAt
        click.visit = record.visit.index
        gaps.clicks += 1
        if record.visitor == nil { gaps.clicksWithoutVisitor += 1 }
        if remade.missing > 0 { gaps.clicksNotReconstructed += 1 }
        if click.address == nil { gaps.clicksWithoutAddress += 1 }
        guard let claimedAt else { return click }
        // Of a launch before the first that is recorded.
        if self.facts.firstCheckAt.map({ claimedAt < $0 }) ?? true {
            click.consumedAt = claimedAt
            gaps.clicksConsumedBefore += 1
        } else {
            gaps.claims += 1
        }
        return click
    }
}
