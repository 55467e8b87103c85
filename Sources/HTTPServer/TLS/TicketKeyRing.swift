package import Threads

/// The keys that session tickets are sealed with, newest first.
///
/// A key seals for `rotation` and opens for as long as a ticket that it sealed may be used.
package struct TicketKeyRing: Sendable {
    /// How long one key seals new tickets.
    package static let rotation: Duration = .seconds(12 * 3600)
    /// How long a session may be resumed.
    package static let sessionLifetime: Duration = .seconds(24 * 3600)

    /// A name by which the key is found again, then a key for AES-256 and one for HMAC-SHA-256.
    package struct Key: Sendable, Hashable {
        package static let nameLength = 16
        package static let secretLength = 32
        package static let length = nameLength + 2 * secretLength

        package let bytes: [UInt8]
        let madeAt: MonotonicTime

        package var name: ArraySlice<UInt8> {
            bytes[..<Self.nameLength]
        }
    }

    private var keys: [Key] = []

    package init() {}

    /// The key to seal with now; a new one is made of `random` bytes when the last one's time is over.
    ///
    /// Gives `nil` when that time is over and the system has no randomness.
    package mutating func sealing(at now: MonotonicTime, random: (Int) -> [UInt8]?) -> Key? {
        if let newest = keys.first, now < newest.madeAt.advanced(by: Self.rotation) { return newest }
        guard let bytes = random(Key.length), bytes.count == Key.length else { return nil }
        let key = Key(bytes: bytes, madeAt: now)
        keys.removeAll { now >= $0.madeAt.advanced(by: Self.rotation + Self.sessionLifetime) }
        keys.insert(key, at: 0)
        return key
    }

    /// The key of a name, while it opens tickets.
    package func opening(named name: some Collection<UInt8>, at now: MonotonicTime) -> Key? {
        keys.first { key in
            key.name.elementsEqual(name)
                && now < key.madeAt.advanced(by: Self.rotation + Self.sessionLifetime)
        }
    }
}
