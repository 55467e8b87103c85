/// The request methods that this server hands on (RFC 9110 §9).
///
/// Every other token, `TRACE` and `CONNECT` included, is answered 501 before a handler sees it.
/// Methods are case-sensitive: `get` is an unknown one.
public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"
}
