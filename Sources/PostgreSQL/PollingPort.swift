#if PostgreSQL
internal import CLinux
internal import Glibc
public import Threads

/// A loop for a thread that is not an event loop: it waits in poll(2) while ``run(_:)`` blocks the thread.
///
/// It belongs to the thread that calls ``run(_:)``.
public final class PollingPort {
    /// The jobs of tasks, which other threads may add.
    private final class Jobs: TaskExecutor {
        private let queue = ConditionLock<[UnownedJob]>([])
        /// An eventfd, which is ready for reading after a job was added.
        ///
        /// If the system has no descriptor left, the value is -1, which poll ignores. Then the loop finds the
        /// jobs of other threads when its longest sleep, 100 ms, ends.
        let signal = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

        deinit { close(signal) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isFirst = queue.withLock { jobs in
                jobs.append(job)
                return jobs.count == 1
            }
            if isFirst { _ = eventfd_write(signal, 1) }
        }

        var isEmpty: Bool { queue.withLock(\.isEmpty) }

        /// Runs the queued jobs, but not those that they add.
        func run() {
            var count: eventfd_t = 0
            // The call fills the local value and keeps no pointer to it.
            _ = unsafe eventfd_read(signal, &count)
            let jobs = queue.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            // Each job was taken off the queue, and runs once.
            for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private final class Watch {
        let handler: (LoopPort.Readiness) -> Void
        var watchesWriting = false

        init(_ handler: @escaping (LoopPort.Readiness) -> Void) { self.handler = handler }
    }

    /// A value that belongs to the thread of a ``PollingPort``.
    ///
    /// Sendable, because ``PollingPort/run(_:)`` runs all jobs of its task on the calling thread, before it returns.
    private final class Confined<Value>: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private static let longestSleepMilliseconds: Int64 = 100

    private let jobs = Jobs()
    private var watches: [Int32: Watch] = [:]
    private var timers: [(time: MonotonicTime, handler: () -> Void)] = []
    /// Called at the end of each turn, before the loop waits.
    public var turnDidEnd: () -> Void = {}

    public init() {}

    /// The functions that this loop offers to a client; they keep this object alive.
    public var port: LoopPort {
        LoopPort(
            watch: { [self] descriptor, handler in watches[descriptor] = Watch(handler) },
            setWatchesWriting: { [self] descriptor, isOn in watches[descriptor]?.watchesWriting = isOn },
            unwatch: { [self] descriptor in watches[descriptor] = nil },
            wake: { [self] time, handler in timers.append((time, handler)) }
        )
    }

    /// Runs the operation, which may await functions of the loop's clients, and blocks until it has ended.
    public func run<Result>(_ operation: @escaping () async -> Result) -> Result {
        let operation = Confined(operation)
        let result = Confined<Result?>(nil)
        Task(executorPreference: jobs) { result.value = await operation.value() }
        while true {
            runJobs()
            // Return before the wait, because no further event may come.
            if let value = result.value { return value }
            waitForEvents()
        }
    }

    /// Runs one iteration: jobs, the end of the turn, and the events that poll(2) returns.
    public func turn() {
        runJobs()
        waitForEvents()
    }

    private func runJobs() {
        jobs.run()
        turnDidEnd()
    }

    private func waitForEvents() {
        let watched = Array(watches)
        var entries = [pollfd(fd: jobs.signal, events: Int16(POLLIN), revents: 0)]
        entries += watched.map { descriptor, watch in
            pollfd(fd: descriptor, events: Int16(POLLIN | (watch.watchesWriting ? POLLOUT : 0)), revents: 0)
        }
        // The call reads and writes the entries of the array.
        unsafe poll(&entries, nfds_t(entries.count), millisecondsToSleep)
        for ((descriptor, watch), entry) in zip(watched, entries.dropFirst()) {
            let hasEnded = entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
            // A handler may end any watch, and a new descriptor may get the number of a closed one.
            if hasEnded || entry.revents & Int16(POLLIN) != 0, watches[descriptor] === watch {
                watch.handler(.reading)
            }
            if hasEnded || entry.revents & Int16(POLLOUT) != 0, watches[descriptor] === watch,
                watch.watchesWriting
            {
                watch.handler(.writing)
            }
        }
        let now = MonotonicTime.now()
        let due = timers.filter { $0.time <= now }
        timers.removeAll { $0.time <= now }
        for timer in due { timer.handler() }
    }

    private var millisecondsToSleep: Int32 {
        guard jobs.isEmpty else { return 0 }
        let next = timers.map(\.time).min().map { Int64(clamping: $0.nanoseconds(since: .now())) } ?? .max
        return Int32(min(Self.longestSleepMilliseconds, next / 1_000_000 + (next % 1_000_000 > 0 ? 1 : 0)))
    }
}

#endif
