/// The first 16 bytes of an HMAC-SHA256 under the server key: what is stored instead of a fingerprint,
/// an address or an install id.
///
/// The space of fingerprints and addresses is small enough to be enumerated, so that a plain hash would
/// hide nothing. Stores index ``index`` and compare ``rest`` on the row.
public struct KeyedHash: Hashable, Sendable {
    public let index: UInt64
    public let rest: UInt64

    public init(index: UInt64, rest: UInt64) {
        self.index = index
        self.rest = rest
    }
}
