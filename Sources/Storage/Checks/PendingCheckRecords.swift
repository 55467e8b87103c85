public import Attribution

/// Records of checks that are not written yet, with the sums of their probabilities for the statistics.
public struct PendingCheckRecords: Sendable {
    struct Record: Sendable {
        let scope: Scope
        let facts: CheckFacts
    }
    /// The campaign of expected conversions.
    enum Campaign: Hashable, Sendable {
        case all
        case named(String)
        /// A campaign whose name is not in memory, by the first word of its hash.
        case hashed(UInt64)
    }
    struct Slot: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        let campaign: Campaign
    }
    /// Expected conversions, with a click or a fingerprint from which the name of a hashed campaign can be read.
    public struct Expected: Sendable {
        var sum: ExpectedConversions
        public var click: Int64?
        public let fingerprint: KeyedHash?
    }
    struct CalibrationSlot: Hashable, Sendable {
        let scope: Scope
        let day: Timestamp
        let index: Int
    }

    private(set) var records: [Record] = []
    /// The number of checks that left no record.
    private(set) var unrecorded: Int64 = 0
    private(set) var expected: [Slot: Expected] = [:]
    private(set) var calibration: [CalibrationSlot: CalibrationTable.Bin] = [:]

    /// The maximum number of a loop's records that wait while the database cannot be written.
    static let maximumRecords = 20_000
    /// The maximum number of records in the database, even if retention is longer: about a gigabyte.
    public static let maximumStored: Int64 = 5_000_000

    var isEmpty: Bool { records.isEmpty && unrecorded == 0 && expected.isEmpty && calibration.isEmpty }

    mutating func add(_ facts: CheckFacts, _ scope: Scope) {
        guard records.count < Self.maximumRecords else { return leaveOut() }
        records.append(Record(scope: scope, facts: facts))
    }

    mutating func leaveOut() { unrecorded += 1 }

    /// Adds the expected conversions of a check, for the number of launches that it represents.
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
        let room = max(0, Self.maximumRecords - records.count)
        records += other.records.prefix(room)
        unrecorded += other.unrecorded + Int64(max(0, other.records.count - room))
        for (slot, expected) in other.expected { add(expected, to: slot) }
        for (slot, bin) in other.calibration { calibration[slot, default: .zero] += bin }
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
