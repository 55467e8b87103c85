internal import Attribution
internal import SQLite
internal import Storage

/// What a transaction has to add to the sums of probabilities, written once before the commit.
struct ProbabilityBatch: Sendable {
    struct Slot: Hashable, Sendable {
        let scope: Scope
        let hour: Timestamp
        /// Empty: all campaigns together.
        let campaign: String
    }

    private(set) var expected: [Slot: ExpectedConversions] = [:]
    private(set) var calibration: [PendingCheckRecords.CalibrationSlot: CalibrationTable.Bin] = [:]

    var isEmpty: Bool { expected.isEmpty && calibration.isEmpty }

    mutating func add(_ sum: ExpectedConversions, to slot: Slot) {
        expected[slot, default: .zero] += sum
    }

    mutating func add(_ bin: CalibrationTable.Bin, to slot: PendingCheckRecords.CalibrationSlot) {
        calibration[slot, default: .zero] += bin
    }

    func write(to connection: SQLiteConnection) throws(SQLiteError) {
        for (slot, sum) in expected {
            for granularity in Granularity.allCases {
                try connection.statement(ProbabilitySQL.addExpected).run(
                    slot.scope.number,
                    slot.campaign,
                    granularity.rawValue,
                    granularity.start(of: slot.hour).milliseconds,
                    sum.millionths,
                    sum.varianceMillionths
                )
            }
        }
        for (slot, bin) in calibration {
            for (granularity, period) in [(Granularity.all, 0), (.day, slot.day.milliseconds)] {
                try connection.statement(ProbabilitySQL.addCalibration).run(
                    slot.scope.number,
                    granularity.rawValue,
                    period,
                    slot.index,
                    bin.launches,
                    bin.statedMillionths,
                    bin.expectedMillionths,
                    bin.right
                )
            }
        }
    }

    /// Takes a campaign's sums of a span away, and adds them to another's, where there is one.
    static func move(
        _ campaign: String,
        to other: String?,
        _ scope: Int64,
        _ granularity: String,
        _ period: Int64,
        on connection: SQLiteConnection
    ) throws(SQLiteError) {
        if let other {
            let rows = try connection.statement(ProbabilitySQL.ofCampaign)
                .all(scope, campaign, granularity, period) { ($0.integer(0), $0.integer(1)) }
            for (conversions, variance) in rows {
                try connection.statement(ProbabilitySQL.addExpected)
                    .run(scope, other, granularity, period, conversions, variance)
            }
        }
        try connection.statement(ProbabilitySQL.removeCampaign).run(scope, campaign, granularity, period)
    }
}

extension CounterBatch {
    mutating func addExpected(
        _ sum: ExpectedConversions,
        of scope: Scope,
        campaign: String,
        in hour: Timestamp
    ) {
        probabilities.add(sum, to: ProbabilityBatch.Slot(scope: scope, hour: hour, campaign: campaign))
    }

    mutating func addCalibration(_ bin: CalibrationTable.Bin, _ slot: PendingCheckRecords.CalibrationSlot) {
        probabilities.add(bin, to: slot)
    }
}

enum ProbabilitySQL {
    static let addExpected: StaticString = """
        INSERT INTO expected_conversions VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET
            conversions = conversions + excluded.conversions, variance = variance + excluded.variance
        """
    static let addCalibration: StaticString = """
        INSERT INTO calibration VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT DO UPDATE SET
            launches = launches + excluded.launches, stated = stated + excluded.stated,
            expected = expected + excluded.expected, correct = correct + excluded.correct
        """
    static let ofCampaign: StaticString = """
        SELECT conversions, variance FROM expected_conversions
        WHERE scope = ?1 AND campaign = ?2 AND granularity = ?3 AND period = ?4
        """
    static let removeCampaign: StaticString = """
        DELETE FROM expected_conversions WHERE scope = ?1 AND campaign = ?2 AND granularity = ?3 AND period = ?4
        """
    static let sumOfExpected: StaticString = """
        SELECT sum(conversions), sum(variance) FROM expected_conversions
        WHERE scope = ?1 AND campaign = ?2 AND granularity = ?3 AND period >= ?4 AND period < ?5
        """
    static let calibration: StaticString = """
        SELECT bin, sum(launches), sum(stated), sum(expected), sum(correct) FROM calibration
        WHERE scope = ?1 AND granularity = ?2 AND period >= ?3 AND period < ?4
        GROUP BY bin
        """
}
