/// Why a wait ended.
enum Wake {
    case ready
    case deadline
    /// The server's grace is over: drop the connection now.
    case cutOff
}

/// A task that is suspended until it is told how to go on.
///
/// The continuation is not checked at run time. That is safe because a waiter is not copyable and
/// `resume` uses it up: it cannot be resumed twice, and who has it does not lose it. A connection stays in
/// the loop's table until its task has ended, a worker is among the loop's free ones until it is called.
@safe struct Waiter<Message: Sendable>: ~Copyable {
    private let continuation: UnsafeContinuation<Message, Never>

    init(_ continuation: UnsafeContinuation<Message, Never>) {
        unsafe self.continuation = continuation
    }

    consuming func resume(_ message: Message) {
        // Used up by this call.
        unsafe continuation.resume(returning: message)
    }
}
