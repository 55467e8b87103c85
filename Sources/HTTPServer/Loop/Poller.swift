internal import CLinux
internal import Glibc

/// An epoll instance.
struct Poller: ~Copyable {
    /// The events of one watched descriptor.
    struct Event {
        let token: UInt64
        private let events: UInt32

        fileprivate init(_ event: linux_event) {
            token = event.token
            events = event.events
        }

        var isReadable: Bool { events & EPOLLIN.rawValue != 0 || hasEnded }
        var isWritable: Bool { events & (EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }

        /// Whether the peer sends no more, or has reset the connection.
        var hasEnded: Bool { events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
    }

    private let descriptor: Descriptor
    /// The number of the epoll instance's descriptor, which closes with the poller.
    var number: Int32 { descriptor.number }
    private var events = [linux_event](repeating: linux_event(), count: 256)

    init() throws(StartError) {
        guard let descriptor = Descriptor(epoll_create1(Int32(EPOLL_CLOEXEC))) else {
            throw .resources("epoll")
        }
        self.descriptor = descriptor
    }

    /// Watches a connection; returns `false` if the system refuses.
    ///
    /// Epoll reports each change once (edge-triggered), so that the loop never changes the registration.
    func watchConnection(_ number: Int32, token: UInt64) -> Bool {
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        return linux_epoll_control(descriptor.number, EPOLL_CTL_ADD, number, events, token) == 0
    }

    /// Watches a descriptor for input; returns `false` if the system refuses.
    ///
    /// Epoll reports the descriptor as long as unread input exists (level-triggered).
    func watchInput(_ number: Int32, token: UInt64) -> Bool {
        linux_epoll_control(descriptor.number, EPOLL_CTL_ADD, number, EPOLLIN.rawValue, token) == 0
    }

    func unwatch(_ number: Int32) { _ = linux_epoll_control(descriptor.number, EPOLL_CTL_DEL, number, 0, 0) }

    /// Waits at most the given time, or without limit for -1, and returns the number of events.
    mutating func wait(milliseconds: Int32) -> Int {
        // The array has room for that many events, and the call keeps no pointer.
        Int(max(0, unsafe linux_epoll_wait(descriptor.number, &events, Int32(events.count), milliseconds)))
    }

    /// Returns an event of the last wait.
    func event(_ index: Int) -> Event { Event(events[index]) }
}

/// An eventfd, which wakes a loop that waits in epoll.
final class WakeSignal: Sendable {
    private let descriptor: Descriptor

    init() throws(StartError) {
        guard let descriptor = Descriptor(eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
        else { throw .resources("eventfd") }
        self.descriptor = descriptor
    }

    var number: Int32 { descriptor.number }

    /// Makes the descriptor readable until `clear`.
    func raise() { _ = eventfd_write(descriptor.number, 1) }

    func clear() {
        var count: eventfd_t = 0
        // The call fills the local value and keeps no pointer to it.
        _ = unsafe eventfd_read(descriptor.number, &count)
    }
}
