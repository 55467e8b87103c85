/// The share of right answers by fingerprint, measured on launches whose token named their click.
public struct CalibrationTable: Equatable, Sendable {
    /// The launches whose most likely click had a probability within one tenth.
    public struct Bin: Hashable, Sendable {
        public var launches: Int64
        /// The sum of the probabilities, in millionths.
        public var statedMillionths: Int64
        /// The sum of the probabilities on the condition that some click led to the launch: the expected
        /// number of right answers, in millionths.
        public var expectedMillionths: Int64
        /// The launches that came for the most likely destination.
        public var right: Int64

        public static let zero = Bin(launches: 0, statedMillionths: 0, expectedMillionths: 0, right: 0)

        public init(launches: Int64, statedMillionths: Int64, expectedMillionths: Int64, right: Int64) {
            self.launches = launches
            self.statedMillionths = statedMillionths
            self.expectedMillionths = expectedMillionths
            self.right = right
        }

        public var stated: Double { Double(statedMillionths) / 1_000_000 }
        public var expected: Double { Double(expectedMillionths) / 1_000_000 }

        public static func + (left: Self, right: Self) -> Self {
            Self(
                launches: left.launches &+ right.launches,
                statedMillionths: left.statedMillionths &+ right.statedMillionths,
                expectedMillionths: left.expectedMillionths &+ right.expectedMillionths,
                right: left.right &+ right.right
            )
        }

        public static func += (left: inout Self, right: Self) { left = left + right }
    }

    public static let binCount = 10

    /// The bins by tenths: the first contains probabilities below 0.1, the last one those from 0.9 on.
    public private(set) var bins = [Bin](repeating: .zero, count: CalibrationTable.binCount)

    public init() {}

    public mutating func add(_ bin: Bin, at index: Int) {
        guard bins.indices.contains(index) else { return }
        bins[index] += bin
    }

    public var launches: Int64 { bins.reduce(0) { $0 + $1.launches } }

    /// The mean difference between right and expected answers per launch; nil without launches.
    public var error: Double? {
        guard launches > 0 else { return nil }
        return bins.reduce(0) { $0 + abs(Double($1.right) - $1.expected) } / Double(launches)
    }
}

/// The calibration of the fingerprint of one launch with a token.
public struct CalibrationSample: Hashable, Sendable {
    /// The index of the bin in the table.
    public let index: Int
    public let bin: CalibrationTable.Bin

    /// Creates a sample; nil for a launch that no token recognised, or whose fingerprint found no click.
    public init?(_ report: CheckReport) {
        guard case .match(let claim) = report.ending, claim.method == .signedToken,
            let verdict = report.basis.verdict, let likeliest = verdict.shares.first,
            let evidence = report.basis.evidence
        else { return nil }
        let truth = evidence.candidates.first { $0.click.high == claim.click.id.high }
        self.init(
            stated: likeliest.probability,
            conversion: verdict.expectedConversions,
            isRight: truth?.destination == likeliest.destination
        )
    }

    /// - Parameters:
    ///   - stated: the probability of the most likely destination.
    ///   - conversion: the probability that some click led to the launch.
    ///   - isRight: whether the launch came for the most likely destination.
    public init(stated: Double, conversion: Double, isRight: Bool) {
        let stated = stated.isFinite ? min(max(stated, 0), 1) : 0
        index = min(Int(stated * Double(CalibrationTable.binCount)), CalibrationTable.binCount - 1)
        let given = conversion > stated ? stated / conversion : 1
        bin = CalibrationTable.Bin(
            launches: 1,
            statedMillionths: ExpectedConversions.millionths(stated),
            expectedMillionths: ExpectedConversions.millionths(stated > 0 ? given : 0),
            right: isRight ? 1 : 0
        )
    }
}
