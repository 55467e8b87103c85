/// One check as it was recorded; kept as long as clicks are after their end.
public struct RecordedCheck: Equatable, Sendable {
    public let id: CheckID
    public let app: AppID
    public let isTest: Bool
    public var facts: CheckFacts
    /// Of the click that was answered, or of the likeliest one.
    public var campaign: CampaignKey?

    public init(
        id: CheckID,
        app: AppID,
        isTest: Bool,
        facts: CheckFacts,
        campaign: CampaignKey? = nil
    ) {
        self.id = id
        self.app = app
        self.isTest = isTest
        self.facts = facts
        self.campaign = campaign
    }
}

/// By what a check is asked for.
public enum CheckReference: Equatable, Sendable {
    case check(CheckID)
    /// The check that consumed the click, or else the last one of which it was the likeliest click.
    case click(ClickID)
    /// The last check of a request.
    case request(String)
    /// The last check with one of these keyed fingerprints.
    case fingerprint([KeyedHash])

    /// Reads what people have at hand: `chk_…`, `clk_…`, a fingerprint's 64 digits, or a request id.
    ///
    /// Nil for a text that can be none of them.
    ///
    /// - Parameters:
    ///   - text: as it was typed.
    ///   - keys: the server keys, under one of which the fingerprint was stored.
    public init?(_ text: String, keys: [ServerKey]) {
        if let id = CheckID(text) {
            self = .check(id)
        } else if let id = ClickID(text) {
            self = .click(id)
        } else if let fingerprint = Fingerprint(hex: text) {
            self = .fingerprint(keys.map { $0.keyed(fingerprint) })
        } else {
            guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else {
                return nil
            }
            self = .request(CheckFacts.cut(text))
        }
    }
}
