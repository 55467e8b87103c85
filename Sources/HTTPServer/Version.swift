/// The protocol versions that this server speaks (RFC 9112 §2.3).
///
/// A higher minor version of HTTP/1 is read as HTTP/1.1, as RFC 9110 §2.5 asks.
public enum Version: Sendable, Hashable {
    case http10
    case http11
}
