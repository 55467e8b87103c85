/// Who asks, as a keyed hash: same API key, fingerprint, exact address and user agent.
///
/// Most checks find nothing that anybody could have been answered before, and never need it: it is made when it is
/// first asked for.
public struct Caller: Equatable, Sendable {
    private enum Form: Sendable {
        case made(KeyedHash)
        case awaited(@Sendable () -> KeyedHash)
    }

    private var form: Form

    public init(_ hash: KeyedHash) {
        form = .made(hash)
    }

    /// - Parameter make: gives the same hash whenever it is called.
    public init(madeBy make: @escaping @Sendable () -> KeyedHash) {
        form = .awaited(make)
    }

    public var hash: KeyedHash {
        switch form {
        case .made(let hash): hash
        case .awaited(let make): make()
        }
    }

    /// Makes the hash now, so that nobody after this makes it again.
    public mutating func settle() {
        form = .made(hash)
    }

    public static func == (left: Caller, right: Caller) -> Bool {
        left.hash == right.hash
    }
}
