internal import Dispatch
internal import Synchronization

/// Runs one task, with everything that it awaits, on the calling thread.
///
/// A database connection belongs to the thread that used it first. On Linux, Swift's main actor stays on its thread only
/// until the first suspension; then any free thread may serve its queue.
final class MainThreadExecutor: TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let queue = Mutex(Queue())
    private let jobsOrEnd = DispatchSemaphore(value: 0)

    /// Runs the operation, and blocks until it has ended.
    static func run<Result: Sendable>(_ operation: @escaping @Sendable () async -> Result) -> Result {
        let executor = MainThreadExecutor()
        let result = SetOnce<Result>()
        Task(executorPreference: executor) {
            result.value = await operation()
            executor.end()
        }
        while true {
            executor.runUntilOver()
            if let value = result.value { return value }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.withLock { $0.jobs.append(job) }
        jobsOrEnd.signal()
    }

    private func end() {
        queue.withLock { $0.isOver = true }
        jobsOrEnd.signal()
    }

    private func runUntilOver() {
        while true {
            jobsOrEnd.wait()
            let (job, isOver) = queue.withLock { queue in
                (queue.jobs.isEmpty ? nil : queue.jobs.removeFirst(), queue.isOver)
            }
            // Each job leaves the queue and runs exactly once, and one thread runs all jobs.
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if job == nil, isOver { return }
        }
    }
}

/// A value that is set once, after other parts already refer to it.
final class SetOnce<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    /// Nil until it is set.
    var value: Value? {
        get { stored.withLock(\.self) }
        set { stored.withLock { $0 = newValue } }
    }

    /// - Throws: ``NotSet`` before it is set.
    func get() throws -> Value {
        guard let value else { throw NotSet() }
        return value
    }

    /// The error of a read before the value was set, which means that the service's parts start in the wrong order.
    struct NotSet: Error {}
}
