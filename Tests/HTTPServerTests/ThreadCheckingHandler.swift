import Glibc
import HTTPServer

/// Answers whether it is still on the thread it was made on, after waiting at a gate.
final class ThreadCheckingHandler: RequestHandler {
    private let thread = pthread_self()
    private let gate: Gate
    private let turn: () -> Void

    init(gate: Gate, turn: @escaping () -> Void) {
        self.gate = gate
        self.turn = turn
    }

    func respond(to request: Request) async -> Response {
        let before = pthread_self() == thread
        await gate.pass()
        let after = pthread_self() == thread
        return Response(.ok, text: before && after ? "same thread" : "another thread")
    }

    func loopTurnDidEnd() { turn() }
}
