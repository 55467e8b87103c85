import Foundation
import Synchronization

/// One thread that runs the jobs of an actor, as an event loop's thread does: for code that belongs to one thread.
public final class LoopThread: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopping = false
    }

    private final class Queue: Sendable {
        private let state = Mutex(State())
        private let work = DispatchSemaphore(value: 0)

        func append(_ job: UnownedJob) {
            state.withLock { $0.jobs.append(job) }
            work.signal()
        }

        func stop() {
            state.withLock { $0.isStopping = true }
            work.signal()
        }

        /// Waits for the next job; nil when there will be none.
        func next() -> UnownedJob? {
            work.wait()
            return state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
        }
    }

    private let queue = Queue()

    public init() {
        let queue = queue
        let thread = Thread { [unowned self] in
            while let job = queue.next() {
                // Each job is taken off the queue and run once, on the one thread of this executor.
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
        thread.start()
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        queue.append(UnownedJob(job))
    }

    /// Ends the thread once its jobs are done.
    ///
    /// Nothing may be enqueued afterwards.
    public func stop() {
        queue.stop()
    }
}

/// Runs `body` on a thread of its own from start to end, whatever it waits for in between.
public func onLoop<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let loop = LoopThread()
    defer { loop.stop() }
    return try await Task(executorPreference: loop) { try await body() }.value
}
