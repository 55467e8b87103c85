internal import Glibc
internal import Synchronization
internal import Threads

/// Runs an event loop's jobs one by one on the loop's thread.
///
/// It is the serial executor of the loop's actor, which isolates the loop's state. It is also the task executor that
/// the tasks of the loop's connections prefer; without it, a resumed task would first run in the global pool. Any thread
/// may enqueue a job. The first job wakes a sleeping loop, and further jobs do not wake it again.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var loopIsAsleep = false
    }

    private let queue = Mutex(Queue())
    /// The system's number of the loop's thread; 0 before the thread starts.
    private let thread = Atomic<UInt>(0)
    let wakeSignal: WakeSignal

    init() throws(StartError) { wakeSignal = try WakeSignal() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = queue.withLock { queue in
            queue.jobs.append(job)
            let isAsleep = queue.loopIsAsleep
            queue.loopIsAsleep = false
            return isAsleep
        }
        if mustWake { wakeSignal.raise() }
    }

    /// Wakes the loop without a job, so that it reads its stop request.
    func wake() { wakeSignal.raise() }

    func isIsolatingCurrentContext() -> Bool? { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "only an event loop's thread touches its state")
    }
}

// MARK: - On the loop's thread

extension LoopExecutor {
    func adoptCurrentThread() { thread.store(UInt(pthread_self()), ordering: .relaxed) }

    /// Runs the queued jobs, but not the jobs that they enqueue while they run.
    func runQueuedJobs(_ batch: inout [UnownedJob]) {
        queue.withLock { swap(&$0.jobs, &batch) }
        for job in batch {
            // This function takes each job off the queue and runs it once, on the loop's thread.
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
        batch.removeAll(keepingCapacity: true)
    }

    var isQueueEmpty: Bool { queue.withLock { $0.jobs.isEmpty } }

    /// Records that the loop goes to sleep, so that the next job wakes it.
    ///
    /// - Returns: `false` if there is a job already, so that the loop must not sleep.
    func fallAsleep() -> Bool {
        queue.withLock { queue in
            queue.loopIsAsleep = queue.jobs.isEmpty
            return queue.loopIsAsleep
        }
    }

    func wokeUp() { queue.withLock { $0.loopIsAsleep = false } }
}

/// The request to stop a loop, which the loop reads once in each turn.
final class LoopStopRequest: Sendable {
    private let stopIsWanted = Atomic<Bool>(false)
    // This is a mutex, because `Atomic<UInt64>.min` compares its values as signed numbers (Swift 6.3).
    private let cutOffTime = Mutex(MonotonicTime(nanoseconds: .max))

    /// Requests a graceful stop that ends at the given time.
    ///
    /// After two requests, the earlier time counts.
    func stop(until moment: MonotonicTime) {
        cutOffTime.withLock { $0 = min($0, moment) }
        stopIsWanted.store(true, ordering: .releasing)
    }

    var isStopping: Bool { stopIsWanted.load(ordering: .acquiring) }

    /// When the loop drops the connections that are still open.
    var cutOff: MonotonicTime { cutOffTime.withLock { $0 } }
}
