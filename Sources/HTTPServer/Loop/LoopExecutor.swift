internal import Glibc
internal import Synchronization
internal import Threads

/// Runs an event loop's jobs, one after the other, on the loop's thread.
///
/// It is the serial executor of the loop's actor, which isolates, and the task executor that its
/// connections' tasks prefer: a continuation resumes on the latter, and would go round by the global pool
/// without it. Any thread may enqueue. A sleeping loop is woken once, however many jobs come while it wakes up.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var loopIsAsleep = false
    }

    private let queue = Mutex(Queue())
    /// The loop's thread, once it runs.
    private let thread = Atomic<UInt>(0)
    let wakeSignal: WakeSignal

    init() throws(StartError) {
        wakeSignal = try WakeSignal()
    }

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

    /// Wakes the loop without a job, so that it looks at what was asked of it.
    func wake() {
        wakeSignal.raise()
    }

    func isIsolatingCurrentContext() -> Bool? {
        thread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    func checkIsolated() {
        precondition(
            isIsolatingCurrentContext() == true,
            "an event loop's state is touched on its thread only"
        )
    }
}

// MARK: - On the loop's thread

extension LoopExecutor {
    func adoptCurrentThread() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
    }

    /// Runs the jobs that are queued now, but not those that they queue.
    func runQueuedJobs(_ batch: inout [UnownedJob]) {
        queue.withLock { swap(&$0.jobs, &batch) }
        for job in batch {
            // Each job is taken off the queue and run exactly once, on the thread it was queued for.
            unsafe job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
        batch.removeAll(keepingCapacity: true)
    }

    var isQueueEmpty: Bool {
        queue.withLock { $0.jobs.isEmpty }
    }

    /// Declares that the loop goes to sleep, which every job from now on ends; `false` if one is there.
    func fallAsleep() -> Bool {
        queue.withLock { queue in
            queue.loopIsAsleep = queue.jobs.isEmpty
            return queue.loopIsAsleep
        }
    }

    func wokeUp() {
        queue.withLock { $0.loopIsAsleep = false }
    }
}

/// What a loop is told from outside; looked at once a turn.
final class LoopStopRequest: Sendable {
    private let stopIsWanted = Atomic<Bool>(false)
    // Not an atomic: `Atomic<UInt64>.min` compares as if signed (Swift 6.3).
    private let cutOffTime = Mutex(MonotonicTime(nanoseconds: .max))

    /// Asks for a graceful stop that is over at a moment; asked again, the earlier moment counts.
    func stop(until moment: MonotonicTime) {
        cutOffTime.withLock { $0 = min($0, moment) }
        stopIsWanted.store(true, ordering: .releasing)
    }

    var isStopping: Bool {
        stopIsWanted.load(ordering: .acquiring)
    }

    /// When what is still open is dropped.
    var cutOff: MonotonicTime {
        cutOffTime.withLock { $0 }
    }
}
