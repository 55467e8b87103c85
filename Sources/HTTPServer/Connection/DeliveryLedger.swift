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
