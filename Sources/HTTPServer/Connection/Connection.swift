internal import Threads

/// One connection of a loop: its socket, its state machine, and the task that waits for its peer.
///
/// It is not `Sendable`, because it belongs to its loop, and only the loop's thread touches it.
final class Connection {
    enum Interest {
        case reading
        case writing
        /// The server ends the connection; any event ends the wait.
        case ending
    }

    /// A TLS handshake that has not finished.
    struct Handshake {
        /// When the handshake must have finished.
        let deadline: MonotonicTime
        /// Whether too many connections are open, so that this one gets 503 after the handshake.
        let turnsAway: Bool
    }

    private static let maximumReadsInARow = 16

    let socket: Socket
    /// The index in the loop's table.
    let slot: Int
    var state: ConnectionState
    var ledger = DeliveryLedger()
    /// Whether the loop's list of watched connections contains this one.
    var isWatched = false
    /// The TLS session; `nil` without TLS.
    ///
    /// It is created on the peer's first byte, because a session takes tens of kilobytes.
    var tls: TLSSession?
    /// The unfinished handshake; `nil` without TLS, and after the handshake.
    var handshake: Handshake?

    /// The stream that the connection sends; `nil` for none.
    var stream: (any ResponseStream)?

    /// The bytes to send, which are encrypted if the connection uses TLS; empty while the connection is idle.
    var output: [UInt8] = []
    /// The number of bytes of `output` that were sent.
    var sentCount = 0
    /// The number of bytes that were sent before the bytes in `output`.
    var totalSent: UInt64 = 0

    /// Whether there may be input.
    ///
    /// An event sets it, and a read that finds no more input clears it, because events are edge-triggered. It is true
    /// at first, because most peers send right after they connect.
    var canRead = true
    var canWrite = true
    var hasEnded = false
    /// Whether a system call has reported that the connection is broken.
    var isBroken = false
    var isCutOff = false
    var hasEndedSending = false

    /// The number of reads since the connection last found no input or let other connections run.
    var readsInARow = 0

    /// The task that waits for this connection; `nil` for none.
    var waiter: Waiter<Wake>?
    /// Whether the connection waits for its peer without a task.
    var isParked = false
    /// The events that end the current wait, or ended the last one.
    var interest = Interest.reading

    init(socket: consuming Socket, slot: Int, state: ConnectionState, handshake: Handshake?) {
        self.socket = socket
        self.slot = slot
        self.state = state
        self.handshake = handshake
    }

    /// When a wait for the peer times out.
    var deadline: MonotonicTime {
        guard let handshake else { return state.deadline }
        return min(handshake.deadline, state.deadline)
    }

    /// Whether the connection should let other connections run.
    var shouldYield: Bool { readsInARow >= Self.maximumReadsInARow }

    /// Whether the loop may wait until the end of its turn (iteration) before it sends the written bytes.
    var maySendLater: Bool { !canRead && sentCount == 0 && canWrite && !isBroken }

    /// The number of bytes from the connection's start to the end of the bytes written last.
    var writtenEnd: UInt64 { totalSent + UInt64(output.count) }

    /// Records an event.
    ///
    /// - Returns: whether the event ends a wait, if there is one.
    func record(_ event: Poller.Event) -> Bool {
        if event.isReadable { canRead = true }
        if event.isWritable { canWrite = true }
        if event.hasEnded {
            hasEnded = true
            stream?.interrupt()
        }
        return switch interest {
        case .reading: canRead
        case .writing: canWrite
        case .ending: true
        }
    }
}

/// The responses of a connection whose delivery the loop must report, oldest first.
///
/// Byte counts start at the connection's start, as the kernel's count of acknowledged bytes does.
package struct DeliveryLedger {
    private struct Entry {
        var end: UInt64
        var report: (Delivery) -> Void
    }

    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a response that ends after the connection's first `end` bytes.
    package mutating func watch(until end: UInt64, _ report: @escaping (Delivery) -> Void) {
        entries.append(Entry(end: end, report: report))
    }

    /// Reports as delivered the responses within the first `count` bytes, which the peer has acknowledged.
    package mutating func acknowledge(_ count: UInt64) {
        while let first = entries.first, first.end <= count {
            entries.removeFirst()
            first.report(.delivered)
        }
    }

    /// Reports `delivery` for all remaining responses; the server can learn no more about them.
    package mutating func settle(_ delivery: Delivery) {
        for entry in entries { entry.report(delivery) }
        entries = []
    }
}
