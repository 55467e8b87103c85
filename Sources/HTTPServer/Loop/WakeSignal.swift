internal import CLinux
internal import Glibc
internal import Threads

/// An eventfd: wakes a thread that waits for it, in epoll or in `wait`.
final class WakeSignal: Sendable {
    private let descriptor: Descriptor

    init() throws(StartError) {
        guard let descriptor = Descriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
        else { throw .resources("eventfd") }
        self.descriptor = descriptor
    }

    var number: Int32 {
        descriptor.number
    }

    /// Makes the descriptor readable until `clear`.
    func raise() {
        _ = eventfd_write(descriptor.number, 1)
    }

    func clear() {
        var count: eventfd_t = 0
        // The call fills the local value and keeps no pointer to it.
        _ = unsafe eventfd_read(descriptor.number, &count)
    }

    /// Blocks this thread until the signal is raised.
    ///
    /// Returns whether it was raised before the limit; `nil` waits without limit.
    func wait(until limit: MonotonicTime? = nil) -> Bool {
        while true {
            let left = limit.map { $0.nanoseconds(since: .now()) }
            let milliseconds = left.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            // One entry, which lives for the call.
            let found = unsafe poll(&entry, 1, milliseconds)
            if found > 0 { return true }
            if found == 0, let limit, MonotonicTime.now() >= limit { return false }
        }
    }
}
