internal import CLinux
internal import Glibc
internal import Threads

/// The descriptors and the times that a loop's handler waits for with the functions of ``port``.
///
/// It belongs to its loop, and only the loop's thread touches it. It calls or releases closures of the handler. Such a
/// closure may call the port again, and so may the `deinit` of an object that only the closure kept alive.
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

    /// A bit that is set in the tokens of watches, and not in those of connections, whose slot numbers are below it.
    private static let tokenBit: UInt64 = 1 << 31

    /// The loop's epoll instance, which stays open until `end`.
    private let epoll: Int32
    private let executor: LoopExecutor
    private var watches: [Int32: Watch] = [:]
    /// The number of watches that were started, which distinguishes watches of the same descriptor.
    private var generation: UInt32 = 0
    /// The earliest first; calls of the same time in the order in which they were requested.
    private var timedCalls: [TimedCall] = []
    private var hasEnded = false

    init(epoll: Int32, executor: LoopExecutor) {
        self.epoll = epoll
        self.executor = executor
    }

    /// The functions for the loop's request handler; only the loop's thread may call them.
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
        // If the descriptor was closed since an earlier watch, epoll has already forgotten that watch.
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
        // `former` keeps the closure until the dictionary has changed, because the closure's release may call the port
        // again.
        guard let former = watches.removeValue(forKey: descriptor) else { return }
        _ = control(EPOLL_CTL_DEL, descriptor, former)
    }

    private func wake(at time: MonotonicTime, _ handler: @escaping () -> Void) {
        executor.checkIsolated()
        guard !hasEnded else { return }
        // The search starts with the latest time, because most new times are later than all stored ones.
        let index = timedCalls.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        timedCalls.insert(TimedCall(time: time, handler: handler), at: index)
    }

    /// Changes the registration of a descriptor in epoll; its events are level-triggered.
    private func control(_ operation: Int32, _ descriptor: Int32, _ watch: Watch) -> Bool {
        let events = EPOLLIN.rawValue | (watch.watchesWriting ? EPOLLOUT.rawValue : 0)
        return linux_epoll_control(epoll, operation, descriptor, events, watch.token) == 0
    }
}

// MARK: - For the loop

extension PortWaits {
    /// Returns whether an event belongs to a watch, even if that watch has ended.
    static func owns(_ event: Poller.Event) -> Bool { event.token & tokenBit != 0 }

    /// Calls the closure of an event's watch, unless the watch has ended.
    ///
    /// An error or a hang-up makes a descriptor ready for reading, and for writing if the watch includes writing.
    func take(_ event: Poller.Event) {
        if event.isReadable, let watch = watch(of: event) { watch.handler(.reading) }
        // The first call may have ended the watch.
        if event.isWritable, let watch = watch(of: event), watch.watchesWriting { watch.handler(.writing) }
    }

    /// Returns the watch of an event; `nil` if that watch has ended, even if its descriptor has a new watch.
    private func watch(of event: Poller.Event) -> Watch? {
        let descriptor = Int32(truncatingIfNeeded: event.token & (Self.tokenBit - 1))
        return watches[descriptor].flatMap { $0.token == event.token ? $0 : nil }
    }

    /// The time of the first timed call; without one, the latest time that the clock can represent.
    var earliestTime: MonotonicTime { timedCalls.first?.time ?? MonotonicTime(nanoseconds: .max) }

    /// Makes the timed calls whose time has come, but not the calls that these request meanwhile.
    func makeTimedCalls(at now: MonotonicTime) {
        let due = timedCalls.prefix { $0.time <= now }
        timedCalls.removeFirst(due.count)
        for call in due { call.handler() }
    }

    /// Ends all watches and drops all timed calls, without calling a closure; the port's functions then do nothing.
    func end() {
        hasEnded = true
        for (descriptor, watch) in watches { _ = control(EPOLL_CTL_DEL, descriptor, watch) }
        // This releases the closures after both properties have changed, because the release may call the port again.
        withExtendedLifetime((watches, timedCalls)) {
            watches = [:]
            timedCalls = []
        }
    }
}
