/// The rules by which reports decode an app's conversion values.
public struct ConversionSchema: Equatable, Sendable {
    /// A conversion value, and its name in reports.
    public struct Rule: Equatable, Sendable {
        /// The fine conversion value, 0…63.
        public let fineValue: Int64
        public let coarseValue: ApplePostback.CoarseValue?
        /// The name of the value in reports.
        public let name: String

        public init(fineValue: Int64, coarseValue: ApplePostback.CoarseValue?, name: String) {
            (self.fineValue, self.coarseValue, self.name) = (fineValue, coarseValue, name)
        }
    }

    /// The largest number of rules: one for each value.
    public static let maximumRuleCount = 64

    private let rules: [Rule]

    public init(_ rules: [Rule]) { self.rules = rules }

    /// Returns what a postback's conversion value means; nil if the postback has no value, or if no rule has this
    /// value.
    ///
    /// Several rules may have the same coarse value; the text then names all of them.
    public func meaning(of postback: ApplePostback) -> String? {
        let found =
            if let fine = postback.fineValue {
                rules.filter { $0.fineValue == fine }
            } else {
                rules.filter { $0.coarseValue != nil && $0.coarseValue == postback.coarseValue }
            }
        return found.isEmpty ? nil : found.map(\.name).joined(separator: " or ")
    }
}
