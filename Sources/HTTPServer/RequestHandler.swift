/// What answers the requests of one event loop.
///
/// Each loop makes its own on its own thread and calls it there alone; it is not `Sendable` and needs no
/// locks. Every function runs on the loop: what it does in the processor's time, all the loop's
/// connections wait for.
public protocol RequestHandler: AnyObject {
    /// Answers a request.
    ///
    /// May suspend; a continuation resumed on another thread comes back to the loop. Connections of the
    /// same loop go on meanwhile; the same connection's next request waits.
    func respond(to request: Request) async -> Response

    /// Renders the answer for bytes that never became a request. Its status is the rejection's own, and
    /// the connection ends after it, whatever is set here.
    func respond(to rejection: Rejection) -> Response

    /// Called when the loop has seen what has come and has answered none of it yet.
    ///
    /// - Parameter connectionCount: how many connections there is something to do for in this turn, which says how busy the
    ///   loop is.
    func loopTurnWillBegin(connectionCount: Int)

    /// Called at the end of each turn of the loop, before it looks for what has come: the place to write out
    /// what the turn gathered, and to end what was held for the turn.
    func loopTurnDidEnd()
}

extension RequestHandler {
    /// One sentence as plain text.
    public func respond(to rejection: Rejection) -> Response {
        Response(rejection.status, text: rejection.reason + "\n")
    }

    public func loopTurnWillBegin(connectionCount: Int) {}

    public func loopTurnDidEnd() {}
}
