/// The expected number of launches that clicks led to: the sum, over all launches, of the probability that a
/// click led to the launch.
///
/// Launches without a match count too. The number is stored in millionths, so that sums are the same in any order.
public struct ExpectedConversions: Hashable, Sendable {
    public private(set) var millionths: Int64
    /// The variance of the number, in millionths.
    public private(set) var varianceMillionths: Int64

    public static let zero = ExpectedConversions(millionths: 0, varianceMillionths: 0)

    public init(millionths: Int64, varianceMillionths: Int64) {
        self.millionths = millionths
        self.varianceMillionths = varianceMillionths
    }

    /// Creates the number for one launch with this probability of a click, clamped to 0…1; 0 for NaN.
    public init(probability: Double) {
        let probability = probability.isFinite ? min(max(probability, 0), 1) : 0
        self.init(
            millionths: Self.millionths(probability),
            varianceMillionths: Self.millionths(probability * (1 - probability))
        )
    }

    public var count: Double { Double(millionths) / 1_000_000 }

    /// The standard deviation of the number: √Σ p · (1 − p).
    public var spread: Double { (Double(max(varianceMillionths, 0)) / 1_000_000).squareRoot() }

    public static func + (left: Self, right: Self) -> Self {
        Self(
            millionths: left.millionths &+ right.millionths,
            varianceMillionths: left.varianceMillionths &+ right.varianceMillionths
        )
    }

    public static func += (left: inout Self, right: Self) { left = left + right }

    /// Returns a share from 0 to 1 in millionths, rounded.
    static func millionths(_ share: Double) -> Int64 { Int64(share * 1_000_000 + 0.5) }
}

/// The amounts that one check adds to the expected conversions.
public struct CheckExpectation: Equatable, Sendable {
    /// A campaign with its part of the conversion.
    public enum Part: Equatable, Sendable {
        /// The campaign of the click of a certain match.
        case named(CampaignKey, ExpectedConversions)
        /// A campaign known by its hash; see ``CampaignShare``.
        case hashed(CampaignShare, ExpectedConversions)
    }

    public let total: ExpectedConversions
    public let parts: [Part]

    /// Creates the amounts; nil if the check repeats an earlier answer, or has no match and weighed no click.
    public init?(_ report: CheckReport) {
        switch report.ending {
        case .replay: return nil
        case .match(let claim) where claim.method.confidence != nil || report.basis.verdict == nil:
            total = ExpectedConversions(probability: claim.confidence ?? 1)
            let total = total
            parts = claim.click.facts.campaignKey.map { [.named($0, total)] } ?? []
        case .match, .noMatch:
            guard let verdict = report.basis.verdict else { return nil }
            total = ExpectedConversions(probability: verdict.expectedConversions)
            parts = verdict.campaigns.map { .hashed($0, ExpectedConversions(probability: $0.probability)) }
        }
    }
}

/// How often the most likely answer by fingerprint is right, measured on launches whose token names the true click.
public struct CalibrationTable: Equatable, Sendable {
    /// The counts of the launches whose most likely click had a probability within the same tenth.
    public struct Bin: Hashable, Sendable {
        public var launches: Int64
        /// The sum of the probabilities, in millionths.
        public var statedMillionths: Int64
        /// The expected number of right answers, in millionths.
        ///
        /// It is the sum of the probabilities, each divided by the probability that some click led to the launch,
        /// because a token proves that one did.
        public var expectedMillionths: Int64
        /// The number of launches whose true click has the most likely destination.
        public var right: Int64

        public static let zero = Bin(launches: 0, statedMillionths: 0, expectedMillionths: 0, right: 0)

        public init(launches: Int64, statedMillionths: Int64, expectedMillionths: Int64, right: Int64) {
            (self.launches, self.statedMillionths) = (launches, statedMillionths)
            (self.expectedMillionths, self.right) = (expectedMillionths, right)
        }

        public var stated: Double { Double(statedMillionths) / 1_000_000 }
        public var expected: Double { Double(expectedMillionths) / 1_000_000 }

        public static func += (left: inout Self, right: Self) {
            left.launches &+= right.launches
            left.statedMillionths &+= right.statedMillionths
            left.expectedMillionths &+= right.expectedMillionths
            left.right &+= right.right
        }
    }

    public static let binCount = 10

    /// The bins by tenths: the first contains probabilities below 0.1, the last one contains probabilities from 0.9 on.
    public private(set) var bins = [Bin](repeating: .zero, count: CalibrationTable.binCount)

    public init() {}

    public mutating func add(_ bin: Bin, at index: Int) {
        guard bins.indices.contains(index) else { return }
        bins[index] += bin
    }

    public var launches: Int64 { bins.reduce(0) { $0 + $1.launches } }

    /// The sum of the bins' absolute differences between right and expected answers, divided by the number of launches;
    /// nil without launches.
    public var error: Double? {
        guard launches > 0 else { return nil }
        return bins.reduce(0) { $0 + abs(Double($1.right) - $1.expected) } / Double(launches)
    }
}

/// The contribution of one launch with a token to a ``CalibrationTable``.
public struct CalibrationSample: Hashable, Sendable {
    /// The index of the bin in the table.
    public let index: Int
    public let bin: CalibrationTable.Bin

    /// Creates a sample; nil without a guaranteed match, and for a launch whose fingerprint found no click.
    public init?(_ report: CheckReport) {
        guard case .match(let claim) = report.ending, claim.isGuaranteed,
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
    ///   - isRight: whether the launch's true click has the most likely destination.
    public init(stated: Double, conversion: Double, isRight: Bool) {
        let stated = stated.isFinite ? min(max(stated, 0), 1) : 0
        index = min(Int(stated * Double(CalibrationTable.binCount)), CalibrationTable.binCount - 1)
        let conditional = conversion > stated ? stated / conversion : 1
        bin = CalibrationTable.Bin(
            launches: 1,
            statedMillionths: ExpectedConversions.millionths(stated),
            expectedMillionths: ExpectedConversions.millionths(stated > 0 ? conditional : 0),
            right: isRight ? 1 : 0
        )
    }
}
