import Foundation
import Synchronization

/// A thread that runs jobs one after another, as an event loop's thread does, for code that must stay on one thread.
public final class LoopThread: SerialExecutor, TaskExecutor {
    private final class Queue: Sendable {
        private let jobs = Mutex<[UnownedJob]>([])
        private let work = DispatchSemaphore(value: 0)
        #if PostgreSQL
        let sockets = SocketWait()
        #endif

        func append(_ job: UnownedJob) {
            jobs.withLock { $0.append(job) }
            signal()
        }

        func stop() { signal() }

        private func signal() {
            work.signal()
            #if PostgreSQL
            sockets.interrupt()
            #endif
        }

        /// Waits for the next job, and returns it; nil after `stop`, when all jobs were returned.
        func next() -> UnownedJob? {
            #if PostgreSQL
            while work.wait(timeout: .now()) == .timedOut { sockets.turn() }
            #else
            work.wait()
            #endif
            return jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    private let queue = Queue()
    #if PostgreSQL
    /// The waits of database clients; only code on this thread may use them.
    public var sockets: SocketWait { queue.sockets }
    #endif

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
            #if PostgreSQL
            // The closure that this one replaces may keep a session alive, and with it the port and this
            // object.
            sockets.turnDidEnd = {}
            #endif
        }
        thread.stackSize = 1 << 21
        thread.start()
    }

    public func enqueue(_ job: consuming ExecutorJob) { queue.append(UnownedJob(job)) }

    /// Ends the thread once its jobs are done; no job may be enqueued afterwards.
    public func stop() { queue.stop() }
}

/// Runs `body` on a thread of its own from start to end, even if it suspends in between.
public func onLoop<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let loop = LoopThread()
    defer { loop.stop() }
    return try await Task(executorPreference: loop) { try await body() }.value
}
