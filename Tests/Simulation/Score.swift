/// How a run went: what the bars are about.
public struct Score: Sendable {
    public var matches = 0
    /// Matches with the very person's click.
    public var rightPerson = 0
    /// Matches with the link and campaign of the person's click.
    public var rightLink = 0
    public var conversions = 0
    public var organic = 0
    public var organicMatched = 0
    public var reinstalls = 0
    public var reinstallsMatched = 0
    public var clicksUsedTwice = 0
    public var expected = 0.0
    public var variance = 0.0
    public var launches = 0
    private var bins = [(count: Double, stated: Double, right: Double)](repeating: (0, 0, 0), count: 10)
    private var honestBins = [(count: Double, stated: Double, right: Double)](repeating: (0, 0, 0), count: 10)

    public init() {}

    mutating func add(stated: Double, probability: Double, isRight: Bool) {
        Self.add(stated, isRight, to: &bins)
        Self.add(probability, isRight, to: &honestBins)
    }

    private static func add(
        _ stated: Double,
        _ isRight: Bool,
        to bins: inout [(count: Double, stated: Double, right: Double)]
    ) {
        let bin = min(max(Int(stated * 10), 0), 9)
        bins[bin].count += 1
        bins[bin].stated += stated
        bins[bin].right += isRight ? 1 : 0
    }

    public var precision: Double { ratio(Double(rightLink), Double(matches)) }
    public var personPrecision: Double { ratio(Double(rightPerson), Double(matches)) }
    public var found: Double { ratio(Double(rightLink), Double(conversions)) }
    public var falseAttribution: Double { ratio(Double(organicMatched), Double(organic)) }
    public var rematched: Double { ratio(Double(reinstallsMatched), Double(reinstalls)) }
    /// The expected calibration error in ten equal bins, of the stated confidence, which is capped.
    public var calibrationError: Double { Self.error(bins) }
    /// The same of the probability without the cap.
    public var uncappedError: Double { Self.error(honestBins) }

    /// Right matches for each stated probability.
    public var table: [(count: Int, stated: Double, right: Double)] {
        honestBins.map { (Int($0.count), ratio($0.stated, $0.count), ratio($0.right, $0.count)) }
    }

    private static func error(_ bins: [(count: Double, stated: Double, right: Double)]) -> Double {
        let total = bins.reduce(0) { $0 + $1.count }
        guard total > 0 else { return 0 }
        return bins.reduce(0) { $0 + abs($1.stated - $1.right) } / total
    }

    private func ratio(_ part: Double, _ whole: Double) -> Double { whole > 0 ? part / whole : 0 }
}
