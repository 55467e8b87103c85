import Foundation
import Synchronization

/// One thread that runs jobs one after another, as an event loop's thread does: for code that belongs to a thread.
public final class LoopThread: SerialExecutor, TaskExecutor {
    private final class Queue: Sendable {
        private let jobs = Mutex<[UnownedJob]>([])
        private let work = DispatchSemaphore(value: 0)

        func append(_ job: UnownedJob) {
            jobs.withLock { $0.append(job) }
            work.signal()
        }

        func stop() { work.signal() }

        /// Waits for the next job, and returns it; nil when there will be none.
        func next() -> UnownedJob? {
            work.wait()
            return jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    private let queue = Queue()

    public init() {
        let queue = queue
        let thread = Thread { [self] in
            while let job = queue.next() {
                // Each job is taken off the queue and run once, on the one thread of this executor.
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
        }
        thread.stackSize = 1 << 21
        thread.start()
    }

    public func enqueue(_ job: consuming ExecutorJob) { queue.append(UnownedJob(job)) }

    /// Ends the thread once its jobs are done.
    ///
    /// Nothing may be enqueued afterwards.
    public func stop() { queue.stop() }
}

/// Runs `body` on a thread of its own from start to end, whatever it waits for in between.
public func onLoop<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let loop = LoopThread()
    defer { loop.stop() }
    return try await Task(executorPreference: loop) { try await body() }.value
}
