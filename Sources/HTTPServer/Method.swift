/// The request methods that this server hands on (RFC 9110 §9).
///
/// Every other token, `CONNECT` included, is answered 501 before a handler sees it. `TRACE` and `QUERY` are handed on so
/// that a handler can name what it takes instead, which goes with 405 (RFC 9110 §15.5.6); none of ours takes them.
/// Methods are case-sensitive: `get` is an unknown one.
public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"
    case trace = "TRACE"
    /// Source: the HTTP working group's "The HTTP QUERY Method".
    case query = "QUERY"
}
