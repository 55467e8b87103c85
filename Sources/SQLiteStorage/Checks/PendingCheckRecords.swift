internal import Attribution

/// What loops have noted of checks besides their counts.
struct PendingCheckRecords: Sendable {
    struct Record: Sendable {
        let scope: Scope
        let facts: CheckFacts
    }
    /// To whom expected conversions belong.
    enum Campaign: Hashable, Sendable {
        case all
        case named(String)
        /// See ``CreditedDestination/campaign``.
        case hashed(UInt64)
    }
    struct Slot: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let campaign: Campaign
    }
    /// Expected conversions, and by what a hashed campaign's name is found.
    struct Expected: Sendable {
        var sum: ExpectedConversions
        var click: Int64?
        let fingerprint: KeyedHash?
    }
    struct CalibrationSlot: Hashable, Sendable {
        let scope: Scope
        let day: Timestamp
        let index: Int
    }

    private(set) var records: [Record] = []
    /// Checks that were left out.
    private(set) var unrecorded: Int64 = 0
    private(set) var expected: [Slot: Expected] = [:]
    private(set) var calibration: [CalibrationSlot: CalibrationTable.Bin] = [:]

    /// So many wait at most, while the database takes none.
    static let mostRecords = 20_000
    /// So many are worth a write of their own: more at a time would hold the writer for long.
    static let writtenAtOnce = 512

    var isEmpty: Bool {
        records.isEmpty && unrecorded == 0 && expected.isEmpty && calibration.isEmpty
    }

    mutating func add(_ facts: CheckFacts, _ scope: Scope) {
        guard records.count < Self.mostRecords else { return leaveOut() }
        records.append(Record(scope: scope, facts: facts))
    }

    mutating func leaveOut() { unrecorded += 1 }

    /// Adds what a check says of expected conversions, for so many launches.
    mutating func add(_ expectation: CheckExpectation, times: Int, of check: Check, _ scope: Scope) {
        let hour = Granularity.hour.start(of: check.at)
        let fingerprint = check.ladder.fingerprints.first
        func expect(_ campaign: Campaign, _ sum: ExpectedConversions, click: Int64? = nil) {
            let slot = Slot(scope: scope, hour: hour, campaign: campaign)
            var whole = ExpectedConversions.zero
            for _ in 0..<times { whole += sum }
            add(Expected(sum: whole, click: click, fingerprint: fingerprint), to: slot)
        }
        expect(.all, expectation.total)
        for part in expectation.parts {
            switch part {
            case .named(let campaign, let sum): expect(.named(campaign.text), sum)
            case .hashed(let share, let sum):
                expect(.hashed(share.campaign), sum, click: share.click.map { Int64(bitPattern: $0.high) })
            }
        }
    }

    mutating func add(_ sample: CalibrationSample, at moment: Timestamp, _ scope: Scope) {
        let day = Granularity.day.start(of: moment)
        calibration[CalibrationSlot(scope: scope, day: day, index: sample.index), default: .zero] +=
            sample.bin
    }

    mutating func merge(_ other: PendingCheckRecords) {
        let room = max(0, Self.mostRecords - records.count)
        records += other.records.prefix(room)
        unrecorded += other.unrecorded + Int64(max(0, other.records.count - room))
        for (slot, expected) in other.expected { add(expected, to: slot) }
        calibration.merge(other.calibration, uniquingKeysWith: +)
    }

    private mutating func add(_ more: Expected, to slot: Slot) {
        guard var known = expected[slot] else {
            expected[slot] = more
            return
        }
        known.sum += more.sum
        known.click = known.click ?? more.click
        expected[slot] = known
    }
}

extension SQLiteSession {
    /// For how many checks a record of this one is to stand; 0 for none.
    ///
    /// Every match is recorded, and of others as many as can be kept without harm.
    func recordWeight(_ report: CheckReport, at now: UInt64) -> Int {
        if case .match = report.ending { return 1 }
        return records.take(from: shared.records, at: now)
    }

    /// Notes how a check ended, for its record, and what it adds to the statistics of probabilities.
    ///
    /// - Parameters:
    ///   - report: how the check ended.
    ///   - check: the check.
    ///   - weight: see ``recordWeight(_:at:)``.
    ///   - scope: whose it is.
    ///   - now: nanoseconds of the store's monotonic clock.
    func note(_ report: CheckReport, of check: Check, weight: Int, _ scope: Scope, at now: UInt64) {
        // For how many launches it stands.
        let launches = lessons.learn(from: report, of: check, scope, at: now)
        var facts = weight > 0 ? CheckFacts(report, of: check) : nil
        facts?.weight = weight
        let expectation = launches > 0 ? CheckExpectation(report) : nil
        let sample = CalibrationSample(report)
        let isMuch = notes.withContent { [facts] content in
            content.count(report.ending, of: check, scope)
            if let facts { content.checks.add(facts, scope) } else { content.checks.leaveOut() }
            if let expectation { content.checks.add(expectation, times: launches, of: check, scope) }
            if let sample { content.checks.add(sample, at: check.at, scope) }
            return content.checks.records.count >= PendingCheckRecords.writtenAtOnce
        }
        if isMuch { shared.queueNotes() }
    }
}

extension PendingUpdates.Content {
    /// Matches are counted with their claims.
    fileprivate mutating func count(_ ending: CheckEnding, of check: Check, _ scope: Scope) {
        let hour = Granularity.hour.start(of: check.at)
        switch ending {
        case .match: return
        case .noMatch(let reason):
            count(
                PendingUpdates.NoMatch(
                    scope: scope,
                    hour: hour,
                    platform: check.platform,
                    reason: reason,
                    launch: check.launch
                )
            )
        case .replay(let claim):
            let traits = CountedTraits(claim.click.facts)
            let replay = PendingUpdates.Replay(
                scope: scope,
                hour: hour,
                platform: check.platform,
                traits: traits
            )
            replays[replay, default: 0] += 1
        }
    }
}
