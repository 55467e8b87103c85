/// The reason why a check got no click.
///
/// The raw value is the word in statistics and in answers to test keys. A new reason is a case with its
/// ``words``; `openapi.json` and the article on the API list the words.
public enum NoMatchReason: String, CaseIterable, Sendable {
    case noClick = "no_click"
    case expired
    case alreadyClaimed = "already_claimed"
    case robotClick = "robot_click"
    /// There were clicks, but the probability that one of them led to the launch is below the app's minimum.
    case belowThreshold = "below_threshold"
    /// A click led to the launch, but several destinations compete.
    case ambiguous
    /// The token is another app's.
    case otherApp = "other_app"
    /// The token is malformed, or was altered.
    case tokenInvalid = "token_invalid"
    /// Another launch has used the token before.
    case tokenUsed = "token_used"
    /// The app does not use fingerprints, and the launch sent nothing else.
    case fingerprintDisabled = "fingerprint_disabled"

    public init(_ refusal: ClickTokenError) {
        self =
            switch refusal {
            case .malformed, .altered: .tokenInvalid
            case .otherApp: .otherApp
            case .expired: .expired
            }
    }
}
