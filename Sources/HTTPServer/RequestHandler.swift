/// Responds to the requests of one event loop.
///
/// Each loop creates its own handler on its own thread and calls it only there, so that it is not `Sendable` and
/// needs no locks. Every function runs on the loop: all connections of the loop wait while it computes.
public protocol RequestHandler: AnyObject {
    /// Responds to a request.
    ///
    /// May suspend; a continuation that is resumed on another thread comes back to the loop. The loop serves its
    /// other connections meanwhile; the next request of the same connection waits.
    func respond(to request: Request) async -> Response

    /// Renders the response to a rejection. Its status is the rejection's, and the connection ends after it, whatever
    /// is set here.
    func respond(to rejection: Rejection) -> Response

    /// Called when the loop knows which connections are ready, before it serves the first of them.
    ///
    /// - Parameter connectionCount: the number of connections with work in this turn, which shows how busy the loop
    ///   is.
    func loopTurnWillBegin(connectionCount: Int)

    /// Called at the end of each turn of the loop, before it polls its sockets: flush here what the turn gathered,
    /// and end what was held for the turn.
    func loopTurnDidEnd()
}

extension RequestHandler {
    /// Responds with the reason as plain text.
    public func respond(to rejection: Rejection) -> Response {
        Response(rejection.status, text: rejection.reason + "\n")
    }

    public func loopTurnWillBegin(connectionCount: Int) {}

    public func loopTurnDidEnd() {}
}
