/// Why a text names no destination.
///
/// The message says what to do.
public enum DestinationError: Error, Equatable, Sendable {
    case malformed(DeepLinkURLError)
    case noHost
    case queryOrFragment
    case dotSegment

    public var message: String {
        switch self {
        case .noHost, .malformed(.noHost):
            """
            A destination names its host, as in https://shop.example or myapp://promo; a scheme of the app's own may \
            stand alone, as in myapp://.
            """
        case .malformed(let error): error.message
        case .queryOrFragment:
            "A destination has no ? and no #; write the scheme, the host and at most a path."
        case .dotSegment: "A destination's path has no . or .. segments; write it in full."
        }
    }
}
