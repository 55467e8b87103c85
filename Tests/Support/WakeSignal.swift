internal import CLinux
internal import Glibc

/// A descriptor that another thread makes ready for reading, so that a thread that waits for sockets wakes.
public final class WakeSignal: Sendable {
    /// An eventfd, which is ready for reading after ``send()``.
    public let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    public init() {}

    deinit { close(descriptor) }

    /// Makes the descriptor ready for reading.
    public func send() { _ = eventfd_write(descriptor, 1) }

    /// Ends the readiness for reading.
    public func clear() {
        var count: eventfd_t = 0
        // The call fills the local value and keeps no pointer to it.
        _ = unsafe eventfd_read(descriptor, &count)
    }
}
