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

    private init(_ continuation: UnsafeContinuation<Wake, Never>) {
        unsafe self.continuation = continuation
    }

    /// Suspends the task and hands its waiter out.
    static func suspend(_ handOut: (consuming Waiter) -> Void) async -> Wake {
        // The waiter made of it is the continuation's only owner.
        await unsafe withUnsafeContinuation { handOut(unsafe Waiter($0)) }
    }

    consuming func resume(_ wake: Wake) {
        // Used up by this call.
        unsafe continuation.resume(returning: wake)
    }
}
