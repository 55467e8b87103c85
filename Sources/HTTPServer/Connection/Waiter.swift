/// Why a wait ended.
enum Wake {
    case ready
    case deadline
    /// The server's grace is over: drop the connection now.
    case cutOff
}

/// A task that is suspended until it is told why to go on.
///
/// The continuation is not checked at run time. That is safe because a waiter is not copyable and
/// `resume` uses it up: it cannot be resumed twice, and its connection, which stays in the loop's table
/// until its task has ended, does not lose it.
@safe struct Waiter: ~Copyable {
    private let continuation: UnsafeContinuation<Wake, Never>

    init(_ continuation: UnsafeContinuation<Wake, Never>) {
        unsafe self.continuation = continuation
    }

    consuming func resume(_ wake: Wake) {
        // Used up by this call.
        unsafe continuation.resume(returning: wake)
    }
}
