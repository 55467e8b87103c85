internal import Threads

/// One connection of a loop: its socket, its state machine, and the task that waits for it.
///
/// Not `Sendable`: it belongs to its loop, and only the loop's thread touches it.
final class Connection {
    enum Interest {
        case reading
        case writing
        /// Any change, at the connection's end.
        case ending
    }

    /// A TLS handshake that has not finished.
    struct Handshake {
        /// When it must have finished.
        let deadline: MonotonicTime
        /// Whether the connection then gets only the response that there are too many connections.
        let turnsAway: Bool
    }

    private static let maximumReadsInARow = 16

    let socket: Socket
    /// The index in the loop's table.
    let slot: Int
    var state: ConnectionState
    var ledger = DeliveryLedger()
    /// The TLS session; `nil` without TLS.
    ///
    /// It is created on the peer's first byte, because a session takes tens of kilobytes.
    var tls: TLSSession?
    /// `nil` without TLS, and once the handshake is over.
    var handshake: Handshake?

    /// Bytes that are written and not sent yet, as they go over the wire; empty while the connection is idle.
    var output: [UInt8] = []
    /// How much of `output` was sent.
    var sentCount = 0
    /// Bytes sent before those in `output`.
    var totalSent: UInt64 = 0

    /// Whether the last event reported input.
    ///
    /// Events are edge-triggered, so that it holds until a call finds otherwise.
    ///
    /// It is true at first, because most peers send right after they connect.
    var canRead = true
    var canWrite = true
    var hasEnded = false
    /// Whether a call has found the connection broken.
    var isBroken = false
    var isCutOff = false
    var hasEndedSending = false

    /// The number of reads since the connection last yielded to others.
    var readsInARow = 0

    /// The task that waits, if one does.
    var waiter: Waiter<Wake>?
    /// Whether the connection waits for its peer without a task.
    var isParked = false
    /// What the connection waits for, or last waited for.
    var interest = Interest.reading

    init(socket: consuming Socket, slot: Int, state: ConnectionState, handshake: Handshake?) {
        self.socket = socket
        self.slot = slot
        self.state = state
        self.handshake = handshake
    }

    /// When a wait for the peer ends with a timeout.
    var deadline: MonotonicTime {
        guard let handshake else { return state.deadline }
        return min(handshake.deadline, state.deadline)
    }

    /// Whether the connection should yield to others.
    var shouldYield: Bool { readsInARow >= Self.maximumReadsInARow }

    /// Whether written bytes can wait for the end of the loop's turn.
    var maySendLater: Bool { !canRead && sentCount == 0 && canWrite && !isBroken }

    /// The end of the response that was just written, counted from the connection's first byte.
    var writtenEnd: UInt64 { totalSent + UInt64(output.count) }

    /// Records an event.
    ///
    /// - Returns: whether the event ends a wait, if there is one.
    func record(_ event: Poller.Event) -> Bool {
        if event.isReadable { canRead = true }
        if event.isWritable { canWrite = true }
        if event.hasEnded { hasEnded = true }
        return switch interest {
        case .reading: canRead
        case .writing: canWrite
        case .ending: true
        }
    }
}

/// The responses of a connection whose delivery must be reported, oldest first.
///
/// Byte counts start at the connection's first byte, as the kernel's count of acknowledged bytes does.
package struct DeliveryLedger {
    private struct Entry {
        var end: UInt64
        var tell: (Delivery) -> Void
    }

    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a response whose last byte is the `end`th of the connection.
    package mutating func watch(until end: UInt64, _ tell: @escaping (Delivery) -> Void) {
        entries.append(Entry(end: end, tell: tell))
    }

    /// Reports the responses that lie within the first `count` bytes, which the peer has acknowledged.
    package mutating func acknowledge(_ count: UInt64) {
        while let first = entries.first, first.end <= count {
            entries.removeFirst()
            first.tell(.delivered)
        }
    }

    /// Reports all remaining responses, because nothing more will be known.
    package mutating func settle(_ delivery: Delivery) {
        for entry in entries { entry.tell(delivery) }
        entries = []
    }
}
