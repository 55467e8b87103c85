/// A task of a loop that serves connections, each until the connection has to wait for its peer.
///
/// Not `Sendable`: it belongs to its loop, and only the loop's thread touches it.
final class Worker {
    /// A piece of work: a connection, by its slot, and what has happened to it.
    struct WorkItem: Sendable {
        enum Cause: Sendable {
            case accepted(turnsAway: Bool)
            case woken(Wake)
        }

        let slot: Int
        let cause: Cause
    }

    /// What a free worker is asked to do.
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
/// A task keeps the memory of its deepest calls, 20 KB and more. So tasks belong to the loop, as many as there are
/// concurrent requests, and a waiting connection has none.
struct WorkerPool {
    /// How many stay, however little work there is.
    private static let maximumIdleWorkers = 8
    /// How many must have ended before it is worth the allocator's time to return their memory to the system.
    private static let worthReturning = 512

    private var free: [Worker] = []
    /// The smallest number that were free since the last dismissal: that many were not needed.
    private var minimumIdleCount = 0
    /// How many were dismissed last; they keep their memory until the loop runs them.
    private var endingCount = 0
    /// How many have ended since memory was last returned to the system.
    private var endedCount = 0

    /// Returns the worker that was last called: its memory is most likely in the processor's cache.
    mutating func take() -> Worker? {
        let worker = free.popLast()
        minimumIdleCount = min(minimumIdleCount, free.count)
        return worker
    }

    mutating func add(_ worker: Worker) { free.append(worker) }

    /// Whether some must still be dismissed or end.
    var hasSurplus: Bool { free.count > Self.maximumIdleWorkers || endingCount > 0 }

    /// Whether enough have ended to return their memory to the system.
    var hasMemoryToReturn: Bool { endedCount >= Self.worthReturning }

    mutating func memoryWasReturned() { endedCount = 0 }

    /// Dismisses the workers that were not needed since the last call.
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
    /// The grace of a stop is over: drop the connection now.
    case cutOff
}

/// A suspended task that waits for a message.
///
/// The continuation is not checked at run time. That is safe because a waiter is not copyable and `resume` consumes
/// it, so that it cannot be resumed twice; and its owner does not lose it: a connection stays in the loop's table
/// until its task has ended, and a worker stays among the loop's free ones until it is called.
@safe struct Waiter<Message: Sendable>: ~Copyable {
    private let continuation: UnsafeContinuation<Message, Never>

    init(_ continuation: UnsafeContinuation<Message, Never>) {
        unsafe self.continuation = continuation
    }

    consuming func resume(_ message: Message) {
        // This call consumes it.
        unsafe continuation.resume(returning: message)
    }
}
