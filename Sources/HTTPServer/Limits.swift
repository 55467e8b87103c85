/// How much a peer may send before it is refused.
///
/// What is over a limit is refused as soon as it is seen to be, and never kept.
public struct Limits: Sendable, Hashable {
    /// Longest request target in bytes; a longer one is answered 414.
    public var targetByteCount = 8 * 1024

    /// Most bytes of the field lines together, with their line ends but the last; more are answered 431.
    public var fieldsByteCount = 16 * 1024

    /// Most field lines; more are answered 431.
    public var fieldCount = 100

    /// Longest body in bytes; a longer one is answered 413, on its announcement where there is one.
    public var bodyByteCount = 64 * 1024

    /// Requests that one connection may send; the answer to the last one closes it.
    public var requestsPerConnection = 1_000

    /// Longest chunk extension in bytes (RFC 9112 §7.1.1); a longer one is answered 400.
    public var chunkExtensionByteCount = 256

    /// Most trailer fields (RFC 9112 §7.1.2); more are answered 400.
    public var trailerCount = 16

    public init() {}
}
