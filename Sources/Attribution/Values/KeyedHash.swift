/// The first 16 bytes of an HMAC-SHA256 under the server key, stored instead of a fingerprint, an address or
/// an install id.
///
/// All fingerprints and addresses can be enumerated, so that a plain hash would hide nothing. Stores index
/// ``index`` and compare ``rest`` in the row.
public struct KeyedHash: Hashable, Sendable {
    public let index: UInt64
    public let rest: UInt64

    public init(index: UInt64, rest: UInt64) {
        self.index = index
        self.rest = rest
    }
}

/// The bytes from which a keyed hash is computed.
///
/// The first byte is the purpose, every text follows its length, and everything else has a fixed length, so
/// that different values or purposes never have the same bytes.
struct KeyedMessage {
    /// The raw values are part of what is stored: never change or reuse one.
    enum Purpose: UInt8 {
        case fingerprint = 1
        case visit = 2
        case caller = 3
        case install = 4
        case idempotency = 5
        case keyCheck = 6
        case clickToken = 7
        case advertisingID = 8
        case address = 9
        case visitor = 10
        // 11 was for signals, which are hashed without a key.
        case variant = 12
        case post = 13
    }

    private(set) var bytes: [UInt8] = []

    init(_ purpose: Purpose) {
        bytes.reserveCapacity(256)
        bytes.append(purpose.rawValue)
    }

    mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func append(_ word: UInt64) {
        // The bytes are copied within the call, while the word is borrowed.
        unsafe withUnsafeBytes(of: word.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append<Subject>(_ identifier: Identifier<Subject>) {
        append(identifier.high)
        append(identifier.low)
    }

    mutating func append(_ fingerprint: Fingerprint) {
        append(fingerprint.words.0)
        append(fingerprint.words.1)
        append(fingerprint.words.2)
        append(fingerprint.words.3)
    }

    mutating func append(_ fingerprint: Fingerprint?) {
        append(fingerprint != nil)
        if let fingerprint { append(fingerprint) }
    }

    mutating func append(_ address: NetworkAddress) {
        append(address.high)
        append(address.low)
    }
}
