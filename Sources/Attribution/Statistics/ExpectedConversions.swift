/// The expected number of launches that clicks led to: the sum of probabilities, whatever the answers.
///
/// It is stored in millionths, so that sums are the same in any order.
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

    /// Creates the amounts; nil for a repeated answer, and for a check that no click can have led to.
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
            parts = verdict.campaigns.map {
                .hashed($0, ExpectedConversions(probability: $0.probability))
            }
        }
    }
}
