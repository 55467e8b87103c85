/// How long a peer may take.
///
/// Checked every `HTTPServerConfiguration.sweepInterval`, so that none is cut short and
/// each may last that much longer.
public struct Timeouts: Sendable, Hashable {
    /// From the first byte of a request to the end of its field lines; then 408.
    ///
    /// Also for a TLS handshake, from the connection's beginning; then a plain close.
    public var header: Duration = .seconds(10)

    /// From the end of the field lines to the end of the body; then 408.
    public var body: Duration = .seconds(10)

    /// Without a byte between requests, or before the first one; then a plain close.
    public var idle: Duration = .seconds(75)

    /// Without a byte that the peer takes of an answer; then the connection is dropped.
    public var write: Duration = .seconds(10)

    /// How long a connection that ends is still read, so that its last answer is not lost to a reset.
    public var linger: Duration = .milliseconds(500)

    /// How long an idle connection may still send a request after a stop was asked for.
    public var farewell: Duration = .milliseconds(100)

    /// How long the end of a connection waits to learn whether a watched answer arrived.
    public var deliveryWatch: Duration = .seconds(2)

    public init() {}
}
