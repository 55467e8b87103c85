public import Attribution
internal import Synchronization

/// The keys that values are hashed under, as they are until others take their place.
///
/// Rings are a chain to whose end every loop follows by itself: no loop waits for another, and a request goes on with the
/// ring that it began with. The chain grows by one or two rings a day.
public final class Keyring: Sendable {
    public let server: ServerKeys
    public let addresses: AddressKeys
    private let next = AtomicLazyReference<Keyring>()
    /// Whether there is a next one: asked on every request, of what costs no reference.
    private let isReplaced = Atomic(false)

    public init(server: ServerKeys, addresses: AddressKeys) {
        self.server = server
        self.addresses = addresses
    }

    /// The ring that has taken the place of this one and of those after it.
    public var latest: Keyring {
        var ring = self
        while ring.isReplaced.load(ordering: .acquiring), let next = ring.next.load() { ring = next }
        return ring
    }

    /// Puts another ring in the place of this one; called once, and by one thread alone.
    public func replace(by ring: Keyring) {
        _ = next.storeIfNil(ring)
        isReplaced.store(true, ordering: .releasing)
    }

    /// The keys of stored fingerprints: one for each server key.
    func keyed(_ fingerprint: Fingerprint) -> [KeyedHash] {
        guard !server.others.isEmpty else { return [server.current.keyed(fingerprint)] }
        return server.all.map { $0.keyed(fingerprint) }
    }
}

/// The latest ring as one loop knows it.
///
/// Touched only on the loop's thread.
final class LoopKeys {
    private var ring: Keyring
    /// The same in an object of the loop's own: of one ring loops would take turns at counting users.
    private var own: Keyring

    init(_ ring: Keyring) {
        self.ring = ring
        own = Keyring(server: ring.server, addresses: ring.addresses)
    }

    var latest: Keyring {
        let latest = ring.latest
        if latest !== ring {
            ring = latest
            own = Keyring(server: latest.server, addresses: latest.addresses)
        }
        return own
    }
}
