/// How a launch was recognised, in the order in which the methods are tried.
///
/// The raw value is the word on the wire and in the database.
public enum AttributionMethod: String, CaseIterable, Sendable {
    /// It brought a click's own token.
    case signedToken = "signed_token"
    /// It brought a click's identifier.
    case clickID = "click_id"
    /// It has the IDFA that an ad network put on the click.
    case idfa
    /// As ``idfa``, with Google's advertising id.
    case gaid
    /// Fingerprint, and address or signals, make a click likely.
    case probabilistic
    /// The fingerprint alone makes a click likely.
    case fingerprint

    /// How likely a match by a method is right that does not depend on the traffic; nil where each match has a
    /// probability of its own.
    public var confidence: Double? {
        switch self {
        case .signedToken: 0.99
        case .clickID, .idfa, .gaid: 0.95
        case .probabilistic, .fingerprint: nil
        }
    }

    /// Whether nobody else than whom the click sent can have been recognised so.
    public var isGuaranteed: Bool { self == .signedToken }
}
