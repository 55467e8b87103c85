public import Attribution
internal import Synchronization

/// The server and address keys that hash fingerprints, ids and addresses, until another keyring replaces this one.
///
/// Keyrings form a chain. Each event loop follows the chain to its end without a lock, so that no loop waits for
/// another. A click and a check use one keyring throughout. The chain grows by one or two keyrings a day.
public final class Keyring: Sendable {
    public let server: ServerKeys
    public let addresses: AddressKeys
    private let next = AtomicLazyReference<Keyring>()
    /// Whether there is a next keyring.
    ///
    /// Every request reads this flag before ``next``, because reading a flag changes no reference count.
    private let isReplaced = Atomic(false)

    public init(server: ServerKeys, addresses: AddressKeys) {
        self.server = server
        self.addresses = addresses
    }

    /// Creates a keyring with the same keys for one loop: loops that shared one would contend for its reference count.
    convenience init(copying other: Keyring) { self.init(server: other.server, addresses: other.addresses) }

    /// The last keyring of the chain.
    public var latest: Keyring {
        var ring = self
        while ring.isReplaced.load(ordering: .acquiring), let next = ring.next.load() { ring = next }
        return ring
    }

    /// Replaces this keyring with another; only one thread may call it, and only once.
    public func replace(by ring: Keyring) {
        _ = next.storeIfNil(ring)
        isReplaced.store(true, ordering: .releasing)
    }

    /// Hashes a fingerprint under each server key.
    func keyed(_ fingerprint: Fingerprint) -> [KeyedHash] {
        guard !server.others.isEmpty else { return [server.current.keyed(fingerprint)] }
        return server.all.map { $0.keyed(fingerprint) }
    }
}
