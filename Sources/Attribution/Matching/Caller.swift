/// Who asks, as a keyed hash: same API key, evidence, exact address and user agent.
///
/// Most checks find nothing that anybody could have been answered before, and never need it.
public typealias Caller = Deferred<KeyedHash>

extension Deferred where Value == KeyedHash {
    public var hash: KeyedHash { value }
}
