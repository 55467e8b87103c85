import Foundation
import Synchronization

/// A thread that runs jobs one after another, as an event loop does, for tests of what is confined to a loop.
public final class LoopThread: TaskExecutor, @unchecked Sendable {
    // Sendable: `jobs` and `isStopped` are touched only with the condition's lock held.
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var isStopped = false

    public init() {
        let thread = Thread { [self] in run() }
        thread.stackSize = 1 << 21
        thread.start()
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        jobs.append(job)
        condition.signal()
        condition.unlock()
    }

    public func stop() {
        condition.lock()
        isStopped = true
        condition.signal()
        condition.unlock()
    }

    private func run() {
        while true {
            condition.lock()
            while jobs.isEmpty && !isStopped { condition.wait() }
            let taken = jobs
            jobs = []
            let isDone = isStopped && taken.isEmpty
            condition.unlock()
            if isDone { return }
            for job in taken {
                // Each job was enqueued for this executor and is run once.
                unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
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
