internal import CLinux
internal import Glibc
internal import Threads

/// What a loop's handler waits for through its ``port``: descriptors, and times.
///
/// It belongs to its loop, and only the loop's thread touches it. Code that it calls may call the port again: a
/// handler, and the `deinit` of an object that only a handler has kept alive.
final class PortWaits {
    private struct Watch {
        let token: UInt64
        let handler: (LoopPort.Readiness) -> Void
        var watchesWriting = false
    }

    private struct TimedCall {
        let time: MonotonicTime
        let handler: () -> Void
    }

    /// A bit of each watch's token, and of no connection's: it is above the number of any slot.
    private static let tokenBit: UInt64 = 1 << 31

    /// The loop's epoll instance, which stays open until `end`.
    private let epoll: Int32
    private let executor: LoopExecutor
    private var watches: [Int32: Watch] = [:]
    /// The number of watches that have begun, which distinguishes watches of the same descriptor.
    private var generation: UInt32 = 0
    /// The earliest first; calls of the same time in the order in which they were requested.
    private var timedCalls: [TimedCall] = []
    private var hasEnded = false

    init(epoll: Int32, executor: LoopExecutor) {
        self.epoll = epoll
        self.executor = executor
    }

    /// The functions for the handler, which the loop's thread alone may call.
    var port: LoopPort {
        LoopPort(
            watch: { self.watch($0, $1) },
            setWatchesWriting: { self.setWatchesWriting($0, $1) },
            unwatch: { self.unwatch($0) },
            wake: { self.wake(at: $0, $1) }
        )
    }

    private func watch(_ descriptor: Int32, _ handler: @escaping (LoopPort.Readiness) -> Void) {
        executor.checkIsolated()
        guard !hasEnded else { return }
        generation &+= 1
        let number = UInt64(UInt32(bitPattern: descriptor))
        let watch = Watch(token: UInt64(generation) << 32 | Self.tokenBit | number, handler: handler)
        let replaces = watches.removeValue(forKey: descriptor) != nil
        // A former watch is not registered any more if its descriptor was closed.
        guard
            control(EPOLL_CTL_ADD, descriptor, watch)
                || (replaces && control(EPOLL_CTL_MOD, descriptor, watch))
        else { return }
        watches[descriptor] = watch
    }

    private func setWatchesWriting(_ descriptor: Int32, _ watchesWriting: Bool) {
        executor.checkIsolated()
        guard var watch = watches[descriptor], watch.watchesWriting != watchesWriting else { return }
        watch.watchesWriting = watchesWriting
        watches[descriptor] = watch
        _ = control(EPOLL_CTL_MOD, descriptor, watch)
    }

    private func unwatch(_ descriptor: Int32) {
        executor.checkIsolated()
        // This releases the handler after the dictionary has changed: the release may call the port again.
        guard let former = watches.removeValue(forKey: descriptor) else { return }
        _ = control(EPOLL_CTL_DEL, descriptor, former)
    }

    private func wake(at time: MonotonicTime, _ handler: @escaping () -> Void) {
        executor.checkIsolated()
        guard !hasEnded else { return }
        // The search starts with the latest time, because most times are later than all others.
        let index = timedCalls.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        timedCalls.insert(TimedCall(time: time, handler: handler), at: index)
    }

    /// Calls epoll for a descriptor, whose events are level-triggered.
    private func control(_ operation: Int32, _ descriptor: Int32, _ watch: Watch) -> Bool {
        let events = EPOLLIN.rawValue | (watch.watchesWriting ? EPOLLOUT.rawValue : 0)
        return linux_epoll_control(epoll, operation, descriptor, events, watch.token) == 0
    }
}

// MARK: - For the loop

extension PortWaits {
    /// Whether an event belongs to a watch, which may have ended.
    static func owns(_ event: Poller.Event) -> Bool { event.token & tokenBit != 0 }

    /// Calls the handler of an event's watch, unless the watch has ended.
    ///
    /// An error and a hang-up make a descriptor ready for both.
    func take(_ event: Poller.Event) {
        if event.isReadable, let watch = watch(of: event) { watch.handler(.reading) }
        // The first call may have ended the watch.
        if event.isWritable, let watch = watch(of: event), watch.watchesWriting { watch.handler(.writing) }
    }

    /// Returns the watch of an event; `nil` if it has ended, also if the same descriptor has a new one.
    private func watch(of event: Poller.Event) -> Watch? {
        let descriptor = Int32(truncatingIfNeeded: event.token & (Self.tokenBit - 1))
        return watches[descriptor].flatMap { $0.token == event.token ? $0 : nil }
    }

    /// The time of the first timed call; the clock's last time without one.
    var earliestTime: MonotonicTime { timedCalls.first?.time ?? MonotonicTime(nanoseconds: .max) }

    /// Makes the timed calls whose time has come, but not those that they request.
    func makeTimedCalls(at now: MonotonicTime) {
        let due = timedCalls.prefix { $0.time <= now }
        timedCalls.removeFirst(due.count)
        for call in due { call.handler() }
    }

    /// Ends all watches and drops all timed calls, without calling a handler; the port's functions then do nothing.
    func end() {
        hasEnded = true
        for (descriptor, watch) in watches { _ = control(EPOLL_CTL_DEL, descriptor, watch) }
        // This releases the handlers after both properties have changed: the release may call the port again.
        withExtendedLifetime((watches, timedCalls)) {
            watches = [:]
            timedCalls = []
        }
    }
}
