import Foundation
import Synchronization

/// One thread that runs jobs one after another, as an event loop's thread does: for code that belongs to a thread.
public final class LoopThread: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopping = false
    }

    /// What comes next for the thread.
    private enum Step {
        case run(UnownedJob)
        case sleep
        case end
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

        func next() -> Step {
            state.withLock { state in
                if !state.jobs.isEmpty { return .run(state.jobs.removeFirst()) }
                return state.isStopping ? .end : .sleep
            }
        }

        func wait() {
            work.wait()
        }
    }

    private let queue = Queue()

    /// - Parameter beforeSleep: called on the thread itself whenever it has nothing to do.
    public init(beforeSleep: @escaping @Sendable () -> Void = {}) {
        let queue = queue
        let thread = Thread { [self] in
            while true {
                switch queue.next() {
                case .run(let job):
                    // Each job is taken off the queue and run once, on the one thread of this executor.
                    unsafe job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(),
                        taskExecutor: asUnownedTaskExecutor()
                    )
                case .sleep:
                    beforeSleep()
                    queue.wait()
                case .end: return
                }
            }
        }
        thread.stackSize = 1 << 21
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
