internal import Attribution
internal import SQLite
internal import Storage

/// An app's checks in the order of time.
///
/// Their identifiers follow the order in which they were written: loops write what they have noted each by itself, up to
/// a second late, and more where the database took nothing for a while. So many are read ahead that those are sorted too.
struct HistoryChecks {
    private let facts: HistoryFacts
    private var waiting: ArraySlice<RecordedLaunch> = []
    private var last: Int64 = .min
    private var hasEnded = false

    private static let pageLength = 8192
    /// More than two loops may have waiting.
    private static let readAhead = 2 * PendingCheckRecords.maximumRecords

    init(_ facts: HistoryFacts) {
        self.facts = facts
    }

    var needsMore: Bool { !hasEnded && waiting.count < Self.readAhead }
    var first: RecordedLaunch? { waiting.first }

    mutating func takeFirst() -> RecordedLaunch? { waiting.popFirst() }

    mutating func read(on connection: SQLiteConnection, _ gaps: inout HistoryGaps) throws(SQLiteError) {
        var launches = Array(waiting)
        while !hasEnded, launches.count < 2 * Self.readAhead {
            var count = 0
            try connection.statement(HistorySQL.checks).forEach(
                last,
                facts.lastCheck,
                facts.scope.number,
                Self.pageLength
            ) { row throws(SQLiteError) in
                let check = try row.record(CheckRecord.self)
                last = Int64(bitPattern: check.id.high)
                count += 1
                launches.append(Self.launch(check.facts, &gaps))
            }
            hasEnded = count < Self.pageLength
        }
        // Those of one millisecond stay in the order in which they were written.
        waiting =
            launches.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)[...]
    }

    private static func launch(_ facts: CheckFacts, _ gaps: inout HistoryGaps) -> RecordedLaunch {
        let isSure = facts.method?.confidence != nil
        let keys = [facts.fingerprint?.index].compactMap(\.self) + facts.otherFingerprints
        let asker = "\(facts.fingerprint?.index ?? 0) \(facts.address?.exact ?? 0)"
        var launch = RecordedLaunch(
            at: facts.at,
            fingerprints: keys,
            address: facts.address,
            caller: facts.caller ?? RecordedEvent.hash(asker),
            hasInstallID: facts.hasInstallID && facts.caller != nil,
            release: facts.release,
            signals: facts.signals,
            token: isSure && facts.outcome != .noMatch ? facts.click?.high : nil
        )
        launch.weight = facts.weight
        launch.answer = RecordedAnswer(
            facts.outcome,
            click: facts.outcome == .noMatch ? nil : facts.click?.high,
            method: facts.method,
            isCampaignOnly: facts.isCampaignOnly,
            reason: facts.reason,
            probability: isSure ? 1 : facts.probability ?? facts.confidence,
            organicShare: facts.organicShare
        )
        gaps.note(facts, launch, isSure: isSure)
        return launch
    }
}

extension HistoryGaps {
    fileprivate mutating func note(_ facts: CheckFacts, _ launch: RecordedLaunch, isSure: Bool) {
        launches += 1
        minimums[facts.minimumConfidence, default: 0] += 1
        launchesNotRecorded += facts.weight - 1
        if facts.caller == nil { launchesWithoutCaller += 1 }
        if facts.address == nil { launchesWithoutAddress += 1 }
        if facts.outcome == .match { matches += 1 }
        if launch.fingerprints.isEmpty, launch.token == nil { launchesWithoutFingerprint += 1 }
        if facts.namesClick, !isSure { launchesNamingOtherClick += 1 }
        if facts.outcome == .match, !isSure, facts.probability == nil { probabilitiesNotKnown += 1 }
    }
}
