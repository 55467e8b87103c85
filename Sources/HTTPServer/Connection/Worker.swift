/// A task of a loop that serves connections, each until it has to wait for its peer.
///
/// Not `Sendable`: it belongs to its loop and is touched on the loop's thread only.
final class Worker {
    /// What one is called for: a connection, by its slot, and what has happened to it.
    struct WorkItem: Sendable {
        enum Cause: Sendable {
            case accepted(turnsAway: Bool)
            case woken(Wake)
        }

        let slot: Int
        let cause: Cause
    }

    /// What one that is free is told.
    enum Instruction: Sendable {
        case resume
        case end
    }

    /// The task while it is free.
    var waiter: Waiter<Instruction>?

    func call(_ instruction: Instruction) {
        guard let waiter = waiter.take() else { return }
        waiter.resume(instruction)
    }
}

/// The free workers of a loop.
///
/// Most of a task is the memory that its deepest calls have left it with, 20 KB and more. So it is the loop
/// that has tasks, as many as there are requests at a time, and a connection that waits has none.
struct WorkerPool {
    /// Those that stay, however little there is to do.
    private static let maximumIdleWorkers = 8
    /// Those whose end is worth the allocator's time to return their memory to the system.
    private static let worthReturning = 512

    private var free: [Worker] = []
    /// The fewest that were free at a time since the last dismissal: nobody has needed them.
    private var minimumIdleCount = 0
    /// Those that were dismissed last, and have their memory until the loop comes to them.
    private var endingCount = 0
    /// Those that have ended since memory was last returned to the system.
    private var endedCount = 0

    /// The one that was called last: its memory is the likeliest to be in the processor's cache.
    mutating func take() -> Worker? {
        let worker = free.popLast()
        minimumIdleCount = min(minimumIdleCount, free.count)
        return worker
    }

    mutating func add(_ worker: Worker) {
        free.append(worker)
    }

    /// Whether some are yet to be dismissed, or to end.
    var hasSurplus: Bool {
        free.count > Self.maximumIdleWorkers || endingCount > 0
    }

    /// Whether it is worth while to return the memory of those that have ended to the system.
    var hasMemoryToReturn: Bool {
        endedCount >= Self.worthReturning
    }

    mutating func memoryWasReturned() {
        endedCount = 0
    }

    /// Dismisses those that were not needed since this was last done.
    mutating func dismissIdle() {
        let count = max(0, min(minimumIdleCount, free.count - Self.maximumIdleWorkers))
        for worker in free.prefix(count) { worker.call(.end) }
        free.removeFirst(count)
        minimumIdleCount = free.count
        endedCount += endingCount
        endingCount = count
    }

    mutating func dismissAll() {
        for worker in free { worker.call(.end) }
        free = []
    }
}

/// Why a wait ended.
enum Wake {
    case ready
    case deadline
    /// The server's grace is over: drop the connection now.
    case cutOff
}

/// A task that is suspended until it is told how to go on.
///
/// The continuation is not checked at run time. That is safe because a waiter is not copyable and
/// `resume` uses it up: it cannot be resumed twice, and who has it does not lose it. A connection stays in
/// the loop's table until its task has ended, a worker is among the loop's free ones until it is called.
@safe struct Waiter<Message: Sendable>: ~Copyable {
    private let continuation: UnsafeContinuation<Message, Never>

    init(_ continuation: UnsafeContinuation<Message, Never>) {
        unsafe self.continuation = continuation
    }

    consuming func resume(_ message: Message) {
        // Used up by this call.
        unsafe continuation.resume(returning: message)
    }
}
