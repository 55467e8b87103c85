public import Attribution
internal import Synchronization

/// The keys under which values are hashed, until another keyring replaces them.
///
/// Keyrings form a chain, to whose end every loop follows by itself: no loop waits for another, and a request keeps
/// the keyring that it started with. The chain grows by one or two keyrings a day.
public final class Keyring: Sendable {
    public let server: ServerKeys
    public let addresses: AddressKeys
    private let next = AtomicLazyReference<Keyring>()
    /// Whether there is a next one.
    ///
    /// Every request reads it, because it costs no reference count.
    private let isReplaced = Atomic(false)

    public init(server: ServerKeys, addresses: AddressKeys) {
        self.server = server
        self.addresses = addresses
    }

    /// The last keyring of the chain.
    public var latest: Keyring {
        var ring = self
        while ring.isReplaced.load(ordering: .acquiring), let next = ring.next.load() { ring = next }
        return ring
    }

    /// Replaces this keyring by another; called once, and by one thread alone.
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

/// The latest keyring as one loop knows it.
///
/// Touched only on the loop's thread.
final class LoopKeys {
    private var ring: Keyring
    /// A copy for this loop alone: loops that shared one object would contend for its reference count.
    private var copy: Keyring

    init(_ ring: Keyring) {
        self.ring = ring
        copy = Keyring(server: ring.server, addresses: ring.addresses)
    }

    var latest: Keyring {
        let latest = ring.latest
        if latest !== ring {
            ring = latest
            copy = Keyring(server: latest.server, addresses: latest.addresses)
        }
        return copy
    }
}
