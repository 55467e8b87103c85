internal import Dispatch
internal import Synchronization

/// Runs one task, with everything that it awaits, on the thread that asks for it.
///
/// A database connection belongs to the thread that used it first. Swift's own main actor keeps that promise on
/// Linux only until the first suspension: its queue is then served by whichever thread is free.
final class MainThreadExecutor: TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isOver = false
    }

    private let queue = Mutex(Queue())
    private let somethingCame = DispatchSemaphore(value: 0)

    /// Blocks until the operation has ended, and runs it meanwhile.
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
        somethingCame.signal()
    }

    private func end() {
        queue.withLock { $0.isOver = true }
        somethingCame.signal()
    }

    private func runUntilOver() {
        while true {
            somethingCame.wait()
            let (job, isOver) = queue.withLock { queue in
                (queue.jobs.isEmpty ? nil : queue.jobs.removeFirst(), queue.isOver)
            }
            // Each job is taken off the queue and run exactly once, on the thread that runs them all.
            if let job { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if job == nil, isOver { return }
        }
    }
}

/// Something that is made later than what asks for it.
final class SetOnce<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    /// Nil until it is made.
    var value: Value? {
        get { stored.withLock(\.self) }
        set { stored.withLock { $0 = newValue } }
    }

    /// - Throws: when it is not made yet.
    func get() throws -> Value {
        guard let value else { throw NotSet() }
        return value
    }

    /// Something was asked for before it was made: a mistake in the order of the start.
    struct NotSet: Error {}
}
