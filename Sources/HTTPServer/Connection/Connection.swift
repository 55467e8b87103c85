internal import Threads

/// One connection of a loop: its socket, its machine, and who waits for it.
///
/// Not `Sendable`: it belongs to its loop and is touched on the loop's thread only.
final class Connection {
    enum Interest {
        case reading
        case writing
        /// A change of any kind, at the connection's end.
        case ending
    }

    /// A TLS handshake that is not over.
    struct Handshake {
        /// By when it has to be.
        let deadline: MonotonicTime
        /// Whether there is nothing to say then but that there are too many connections.
        let turnsAway: Bool
    }

    private static let maximumReadsInARow = 16

    let socket: Socket
    /// Its place in the loop's table.
    let slot: Int
    var state: ConnectionState
    var ledger = DeliveryLedger()
    /// What lies between the socket and HTTP; `nil` without TLS, and before the peer's first byte: it takes
    /// a lot of memory, which who says nothing is not given.
    var tls: TLSSession?
    /// `nil` without TLS, and once the handshake is over.
    var handshake: Handshake?

    /// What is written and not sent yet, as it goes over the wire; empty while the connection is idle.
    var output: [UInt8] = []
    /// How much of `output` was sent.
    var sentCount = 0
    /// Bytes sent before those in `output`.
    var totalSent: UInt64 = 0

    /// What the last events said; edge-triggered, so that it holds until a call finds otherwise.
    ///
    /// At first it is taken to be so: who connects mostly sends at once.
    var canRead = true
    var canWrite = true
    var hasEnded = false
    /// Whether a call has found the connection broken.
    var isBroken = false
    var isCutOff = false
    var hasEndedSending = false

    /// Reads since the connection last let others have a turn.
    var readsInARow = 0

    /// The task that waits, if one does.
    var waiter: Waiter<Wake>?
    /// Whether it waits for its peer without a task.
    var isParked = false
    /// What it waits for, or has last waited for.
    var interest = Interest.reading

    init(socket: consuming Socket, slot: Int, state: ConnectionState, handshake: Handshake?) {
        self.socket = socket
        self.slot = slot
        self.state = state
        self.handshake = handshake
    }

    /// When a wait for the peer has lasted too long.
    var deadline: MonotonicTime {
        guard let handshake else { return state.deadline }
        return min(handshake.deadline, state.deadline)
    }

    /// Whether it is time to let others have a turn.
    var shouldYield: Bool {
        readsInARow >= Self.maximumReadsInARow
    }

    /// Whether what is written goes out at the end of the loop's turn, rather than now.
    var maySendLater: Bool {
        !canRead && sentCount == 0 && canWrite && !isBroken
    }

    /// Where the answer that was just written ends, counted from the connection's first byte.
    var writtenEnd: UInt64 {
        totalSent + UInt64(output.count)
    }

    /// Takes note of an event.
    ///
    /// - Returns: whether a wait ends with it, if there is one.
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

/// The answers of a connection whose delivery is to be told, oldest first.
///
/// Byte counts run from the connection's first byte on, as the kernel's count of acknowledged bytes does.
package struct DeliveryLedger {
    private struct Entry {
        var end: UInt64
        var tell: (Delivery) -> Void
    }

    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool {
        entries.isEmpty
    }

    /// Watches an answer whose last byte is the `end`th of the connection.
    package mutating func watch(until end: UInt64, _ tell: @escaping (Delivery) -> Void) {
        entries.append(Entry(end: end, tell: tell))
    }

    /// The peer has acknowledged so many bytes: tells the answers that are whole within them.
    package mutating func acknowledge(_ count: UInt64) {
        while let first = entries.first, first.end <= count {
            entries.removeFirst()
            first.tell(.delivered)
        }
    }

    /// Nothing more will be known: tells all that are left.
    package mutating func settle(_ delivery: Delivery) {
        for entry in entries { entry.tell(delivery) }
        entries = []
    }
}
