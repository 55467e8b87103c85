/// A task of a loop that serves one connection after the other, each until it must wait for input.
///
/// It is not `Sendable`, because it belongs to its loop, and only the loop's thread touches it.
final class Worker {
    /// A piece of work: the slot of a connection, and the event that the worker must handle.
    struct WorkItem: Sendable {
        enum Cause: Sendable {
            case accepted(turnsAway: Bool)
            case woken(Wake)
        }

        let slot: Int
        let cause: Cause
    }

    /// The loop's instruction to a free worker.
    enum Instruction: Sendable {
        case resume
        case end
    }

    /// The suspended task, while the worker is free.
    var waiter: Waiter<Instruction>?

    func call(_ instruction: Instruction) {
        guard let waiter = waiter.take() else { return }
        waiter.resume(instruction)
    }
}

/// The free workers of a loop.
///
/// A task keeps the memory of its deepest calls, 20 KB and more. So a connection that waits for input has no task. A
/// connection has a task only while a handler has its request, while the peer takes no bytes, or while a delivery is
/// unsettled.
struct WorkerPool {
    /// The number of free workers that the loop does not dismiss before it stops.
    private static let maximumIdleWorkers = 8
    /// If this many workers have ended, the loop returns their memory to the system, even while others are ending.
    private static let worthReturning = 512
    /// If this many workers have ended and no others are ending, the loop returns their memory.
    private static let worthReturningLast = 32

    private var free: [Worker] = []
    /// The smallest number of free workers since the last dismissal; the loop did not need these workers.
    private var minimumIdleCount = 0
    /// The number of workers in the last dismissal; each keeps its memory until its task has run to the end.
    private var endingCount = 0
    /// The number of workers that have ended since the loop last returned memory to the system.
    private var endedCount = 0

    /// Returns the free worker that was used last; `nil` if none is free.
    ///
    /// Its memory is most likely in the processor's cache.
    mutating func take() -> Worker? {
        let worker = free.popLast()
        minimumIdleCount = min(minimumIdleCount, free.count)
        return worker
    }

    mutating func add(_ worker: Worker) { free.append(worker) }

    /// Whether the pool has workers to dismiss, or dismissed workers that may not have ended.
    var hasSurplus: Bool { free.count > Self.maximumIdleWorkers || endingCount > 0 }

    /// Whether enough workers have ended to return their memory to the system.
    ///
    /// After many workers were dismissed, they end over several seconds. With `worthReturning` alone, the
    /// loop would not return the memory of the last ones.
    var hasMemoryToReturn: Bool {
        endedCount >= (endingCount == 0 ? Self.worthReturningLast : Self.worthReturning)
    }

    mutating func memoryWasReturned() { endedCount = 0 }

    /// Dismisses the workers that the loop did not need since the last call, but keeps `maximumIdleWorkers` free ones.
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

/// The reason why a wait ended.
enum Wake {
    case ready
    case deadline
    /// The grace period of a stop is over, so that the connection must end at once.
    case cutOff
}

/// A suspended task that waits for a message.
///
/// The runtime does not check the continuation. This is safe for two reasons. A waiter is not copyable and `resume`
/// consumes it, so that no continuation is resumed twice. No continuation is lost: a connection stays in the loop's
/// table until its task has ended, and a worker stays among the loop's free workers until the loop calls it.
@safe struct Waiter<Message: Sendable>: ~Copyable {
    private let continuation: UnsafeContinuation<Message, Never>

    init(_ continuation: UnsafeContinuation<Message, Never>) { unsafe self.continuation = continuation }

    consuming func resume(_ message: Message) {
        // This call consumes the waiter, so there is no second call.
        unsafe continuation.resume(returning: message)
    }
}
