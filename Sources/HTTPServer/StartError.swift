/// Why a server could not start.
public struct StartError: Error, Sendable {
    public enum Cause: Sendable, Hashable {
        /// The address could not be listened on.
        case listening
        /// A system resource (thread, epoll, eventfd, descriptor) was refused.
        case resources
        /// A loop's handler could not be made.
        case handler
        /// The server was started before, or stopped.
        case state
    }

    public let cause: Cause

    /// The system's error number, where there is one.
    public let systemError: Int32?

    /// One sentence for the operator.
    public let message: String

    /// What the maker of a handler threw.
    public let underlying: (any Error)?
}
