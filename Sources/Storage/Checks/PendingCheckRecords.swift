public import Attribution

/// The checks that loops have recorded, and what they add to the statistics of probabilities.
public struct PendingCheckRecords: Sendable {
    public struct Record: Sendable {
        public let scope: Scope
        public let facts: CheckFacts
    }
    /// To whom expected conversions belong.
    public enum Campaign: Hashable, Sendable {
        case all
        case named(String)
        /// See ``CreditedDestination/campaign``.
        case hashed(UInt64)
    }
    public struct Slot: Hashable, Sendable {
        public let scope: Scope
        public let hour: Timestamp
        public let campaign: Campaign
    }
    /// Expected conversions, and by what a hashed campaign's name is found.
    public struct Expected: Sendable {
        public var sum: ExpectedConversions
        public var click: Int64?
        public let fingerprint: KeyedHash?
    }
    public struct CalibrationSlot: Hashable, Sendable {
        public let scope: Scope
        public let day: Timestamp
        public let index: Int
    }

    public init() {}

    public private(set) var records: [Record] = []
    /// Checks that were left out.
    public private(set) var unrecorded: Int64 = 0
    public private(set) var expected: [Slot: Expected] = [:]
    public private(set) var calibration: [CalibrationSlot: CalibrationTable.Bin] = [:]

    /// The number of records that wait at most, while the database takes none.
    public static let maximumRecords = 20_000
    /// The number of records that are worth a write of their own: more at a time would hold the writer for long.
    public static let writtenAtOnce = 512

    public var isEmpty: Bool {
        records.isEmpty && unrecorded == 0 && expected.isEmpty && calibration.isEmpty
    }

    public mutating func add(_ facts: CheckFacts, _ scope: Scope) {
        guard records.count < Self.maximumRecords else { return leaveOut() }
        records.append(Record(scope: scope, facts: facts))
    }

    public mutating func leaveOut() { unrecorded += 1 }

    /// Adds what a check says of expected conversions, for the given number of launches.
    public mutating func add(_ expectation: CheckExpectation, times: Int, of check: Check, _ scope: Scope) {
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

    public mutating func add(_ sample: CalibrationSample, at moment: Timestamp, _ scope: Scope) {
        let day = Granularity.day.start(of: moment)
        calibration[CalibrationSlot(scope: scope, day: day, index: sample.index), default: .zero] +=
            sample.bin
    }

    public mutating func merge(_ other: PendingCheckRecords) {
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
