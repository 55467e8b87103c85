/// Why a text is no link that can be given to a client.
///
/// The message says what to do.
public enum DeepLinkURLError: Error, Equatable, CaseIterable, Sendable {
    case empty
    case tooLong
    case controlCharacter
    case backslash
    case noScheme
    case malformedScheme
    case forbiddenScheme
    case noHost
    case noPath
    case twoSlashes
    case climbs
    case credentials
    case nonASCIIHost
    case malformedHost
    case malformedPort

    /// In plain words, for the answer to the caller.
    ///
    /// Holds nothing of the link.
    public var message: String {
        switch self {
        case .empty:
            "The link is empty; send one such as myapp://promo/item or https://shop.example/item."
        case .tooLong:
            "The link is longer than \(DeepLinkURL.maximumLength) characters; shorten it."
        case .controlCharacter:
            "The link contains a control character such as a line break; remove or percent-encode it."
        case .backslash:
            "The link contains a backslash; write / or percent-encode it as %5C."
        case .noScheme:
            "The link has no scheme; begin it with one, such as myapp:// or https://."
        case .malformedScheme:
            "The link's scheme is malformed; write a letter followed by letters, digits, +, - or . only."
        case .forbiddenScheme:
            "Links with this scheme can run code or read files; use the app's own scheme or https."
        case .noHost:
            "The link has no host, and apps lose such links; write myapp://host/path, not myapp:///path."
        case .noPath:
            """
            The web link has no path, or / alone, and apps lose such links; name a page, as in \
            https://shop.example/start.
            """
        case .twoSlashes:
            """
            The path begins with two slashes, and browsers read a host behind them; write one for a path, or a whole \
            link such as https://shop.example/item.
            """
        case .climbs:
            """
            The path has a part that is . or .., escaped or not, and apps and browsers disagree where it leads; write \
            the path that is meant.
            """
        case .credentials:
            "The link contains a user name or password before @; remove it."
        case .nonASCIIHost:
            """
            The link's host has characters other than ASCII; write a web host in its punycode form (xn--…), \
            and the host of an app link in plain letters.
            """
        case .malformedHost:
            "The link's host is malformed; write a host name such as shop.example or an address."
        case .malformedPort:
            "The link's port is malformed; write a number from 1 to 65535, or leave it out with its colon."
        }
    }
}
