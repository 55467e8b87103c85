/// Why a token counts for nothing.
///
/// A launch that brings such a token goes on without it.
public enum ClickTokenError: Error, CaseIterable, Sendable {
    /// It has not the form of a token, or one that only newer servers make.
    case malformed
    /// It has the form, but none of the server's keys made it so.
    case altered
    /// It is genuine, and another app's.
    case otherApp
    /// It is genuine, and its click's window is over.
    case expired

    /// The word for operators and test keys when nothing else brought a match.
    public var reason: String {
        switch self {
        case .malformed, .altered: "token_invalid"
        case .otherApp: "other_app"
        case .expired: "expired"
        }
    }

    /// What it means and what to do, for the person who looks for the cause.
    public var message: String {
        switch self {
        case .malformed:
            "The token is not complete: pass it on exactly as it stands in the link, 44 characters"
        case .altered:
            "The token was altered on its way, or made under a server key that this server does not have"
        case .otherApp:
            "The token belongs to another app of this server: check the API key that the app sends"
        case .expired: "The token's click is older than its attribution window"
        }
    }
}
