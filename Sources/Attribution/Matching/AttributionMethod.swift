/// How a launch was recognised, in the order in which the methods are tried.
///
/// The raw value is the word on the wire and in the database.
public enum AttributionMethod: String, CaseIterable, Sendable {
    /// The launch sent a click's own token.
    case signedToken = "signed_token"
    /// The launch sent a click's identifier.
    case clickID = "click_id"
    /// The launch has the IDFA (Apple's advertising id) that an ad network added to the click.
    case idfa
    /// The launch has the GAID (Google's advertising id) that an ad network added to the click.
    case gaid
    /// The fingerprint, and the address or signals, make a click likely.
    case probabilistic
    /// The fingerprint alone makes a click likely.
    case fingerprint

    /// The fixed probability that a match by the method is right; nil for a method by which each match has a
    /// probability of its own.
    public var confidence: Double? {
        switch self {
        case .signedToken: 0.99
        case .clickID, .idfa, .gaid: 0.95
        case .probabilistic, .fingerprint: nil
        }
    }

    /// Whether the method can recognise only the visitor who clicked.
    ///
    /// A match with a ``PlayFinding`` has no guarantee all the same.
    public var isGuaranteed: Bool { self == .signedToken }

    /// The way in which the launch was recognised, as the end of a sentence.
    public var meaning: String {
        switch self {
        case .signedToken: "it brought the click's own signed token"
        case .clickID: "it brought the click's identifier"
        case .idfa: "it has the IDFA that an ad network put on the click"
        case .gaid: "it has the Google advertising id that an ad network put on the click"
        case .probabilistic: "its fingerprint, and its address or signals, make the click likely"
        case .fingerprint: "its fingerprint makes the click likely"
        }
    }
}
