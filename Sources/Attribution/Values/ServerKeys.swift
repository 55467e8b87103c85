internal import Crypto

/// The server keys of a service: the current one, and the others under which stored hashes may be made.
public struct ServerKeys: Sendable {
    /// The key that hashes new clicks and signs new tokens.
    public let current: ServerKey
    /// The other keys that may have hashed clicks or signed tokens: the upcoming ones, then the former ones.
    public let others: [ServerKey]
    /// The key that has been in use for longest; a hash under it does not change when the current key is replaced.
    public let oldest: ServerKey

    /// - Parameters:
    ///   - current: the key that hashes everything new.
    ///   - upcoming: the keys that will replace it soon; other processes may use them already.
    ///   - former: the keys that it replaced, the newest first.
    public init(_ current: ServerKey, upcoming: [ServerKey] = [], former: [ServerKey] = []) {
        self.current = current
        others = upcoming + former
        oldest = former.last ?? current
    }

    /// All keys, the current one first.
    public var all: [ServerKey] { [current] + others }
}

/// Whether a store recognises the server keys that it is opened with.
public enum ServerKeyRecognition: Equatable, Sendable {
    /// The key that the store used last is among the given keys; `missing` is the number of keys that stored clicks may
    /// still need and that were not given.
    case own(missing: Int)
    /// The store's rows were hashed under another key.
    case foreign
}

/// The keys that a store still needs.
public struct RequiredKeys: Equatable, Sendable {
    /// The time of the oldest record with a hash under a server key; nil for an empty store.
    public var oldestRecord: Timestamp?
    /// Maps the index of a former key's ``ServerKey/checkValue`` to the time of its replacement.
    public var replaced: [UInt64: Timestamp] = [:]
    /// The first day, by ``AddressKeys/day(of:)``, whose clicks can still match; nil if there is none.
    public var firstAddressDay: Int64?

    public init(oldestRecord: Timestamp? = nil) { self.oldestRecord = oldestRecord }

    /// The time in milliseconds for which a process may still use a replaced key, because it has not noticed
    /// the replacement.
    static let margin: Int64 = 3_600_000

    /// Returns whether the store may still contain hashes under the key that was replaced at `time`.
    public func needsKey(replacedAt time: Timestamp, at now: Timestamp) -> Bool {
        let end = time.advanced(byMilliseconds: Self.margin)
        return now <= end || (oldestRecord.map { $0 <= end } ?? false)
    }
}

/// The server's secret, which hashes all values that could be guessed by enumeration.
///
/// A restored database matches nothing without its key, so backups include the key. In logs and debuggers, a value of
/// this type never shows its bytes.
public struct ServerKey: Sendable {
    public static let byteCount = 32

    private let code: HMACSHA256

    /// Returns nil unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        code = HMACSHA256(key: bytes)
    }

    /// Returns the hash that is stored instead of a fingerprint.
    public func keyed(_ fingerprint: Fingerprint) -> KeyedHash {
        var message = KeyedMessage(.fingerprint)
        message.append(fingerprint)
        return hash(of: message)
    }

    /// Hashes the visitor and the link of a click; repeated posts of one visit have the same hash.
    ///
    /// `destinationOrLink` is the deep link's URL, or the slug of one of the server's links.
    public func visit(
        app: AppID,
        isTest: Bool,
        fingerprint: Fingerprint?,
        destinationOrLink: String,
        address: NetworkAddress,
        userAgent: String
    ) -> KeyedHash {
        var message = KeyedMessage(.visit)
        message.append(app)
        message.append(isTest)
        message.append(fingerprint)
        message.append(destinationOrLink)
        message.append(address)
        message.append(userAgent)
        return hash(of: message)
    }

    /// Hashes a visit with its campaign key and journey: equal posts within ten seconds are one click.
    ///
    /// `journeyID` is the journey in the post, nil for one that the server created; posts with and without it
    /// are different.
    public func post(of visit: KeyedHash, campaignKey: CampaignKey?, journeyID: JourneyID?) -> KeyedHash {
        var message = KeyedMessage(.post)
        message.append(visit.index)
        message.append(visit.rest)
        for text in [campaignKey?.text, journeyID?.text] {
            message.append(text != nil)
            message.append(text ?? "")
        }
        return hash(of: message)
    }

    /// Hashes the caller of a check: a caller without an install id may get a lost answer again if all of
    /// these values are the same.
    ///
    /// `evidence` is the text of what the launch sent in addition to a fingerprint: tokens, ids and signals.
    public func caller(
        key: KeyID,
        isTest: Bool,
        fingerprint: Fingerprint?,
        evidence: String = "",
        address: NetworkAddress,
        userAgent: String
    ) -> KeyedHash {
        var message = KeyedMessage(.caller)
        message.append(key)
        message.append(isTest)
        message.append(fingerprint)
        message.append(evidence)
        message.append(address)
        message.append(userAgent)
        return hash(of: message)
    }

    public func install(app: AppID, isTest: Bool, installID: InstallID) -> KeyedHash {
        var message = KeyedMessage(.install)
        message.append(app)
        message.append(isTest)
        message.append(installID.text)
        return hash(of: message)
    }

    /// Returns the hash that is stored instead of an app's own id of a user.
    public func user(app: AppID, isTest: Bool, id: String) -> KeyedHash {
        var message = KeyedMessage(.user)
        message.append(app)
        message.append(isTest)
        message.append(id)
        return hash(of: message)
    }

    /// Returns the hash of a post's `idempotency_key`.
    public func idempotency(app: AppID, isTest: Bool, key: String) -> KeyedHash {
        var message = KeyedMessage(.idempotency)
        message.append(app)
        message.append(isTest)
        message.append(key)
        return hash(of: message)
    }

    /// Returns the hash that is stored instead of an advertising id.
    public func advertisingID(app: AppID, isTest: Bool, id: AdvertisingID) -> KeyedHash {
        var message = KeyedMessage(.advertisingID)
        message.append(app)
        message.append(isTest)
        message.append(UInt64(id.kind == .idfa ? 1 : 2))
        message.append(id.high)
        message.append(id.low)
        return hash(of: message)
    }

    /// Returns the hash that is stored instead of an address.
    ///
    /// The caller must have cut the address to its prefix; `level` is 0 for the exact address and 1 for its network.
    func addressHash(of address: NetworkAddress, level: UInt64) -> UInt64 {
        var message = KeyedMessage(.address)
        message.append(level)
        message.append(address)
        return hash(of: message).index
    }

    /// Returns the word that identifies one visitor's clicks: a hash of exact address and agent, or of the
    /// agent alone if the address distinguishes no visitors.
    public func visitor(_ address: AddressHashes?, userAgent: String) -> UInt64 {
        var message = KeyedMessage(.visitor)
        message.append(address?.exact ?? 0)
        message.append(userAgent)
        return hash(of: message).index
    }

    /// Returns the number that chooses a link's variant for a visitor; it is always the same for the same visitor and
    /// link.
    ///
    /// Only the first 64 bits of an IPv6 address count, because a device's addresses change within its /64.
    public func variantChoice(of link: LinkID, address: NetworkAddress, userAgent: String) -> UInt64 {
        var message = KeyedMessage(.variant)
        message.append(link)
        message.append(address.prefix(ipv4Bits: 32, ipv6Bits: 64))
        message.append(userAgent)
        return hash(of: message).index
    }

    /// Returns the signature in a click token: the first bytes of its HMAC.
    func signature(of payload: ClickToken.Payload, for app: AppID) -> [UInt8] {
        var message = KeyedMessage(.clickToken)
        message.append(UInt64(ClickToken.Payload.version))
        message.append(app)
        message.append(payload.click)
        message.append(UInt64(payload.expirySeconds))
        return Array(code.code(for: message.bytes).bytes.prefix(ClickToken.signatureByteCount))
    }

    /// Encrypts the secrets of rows.
    var cipher: AES256GCM? { AES256GCM(key: code.code(for: KeyedMessage(.secret).bytes).bytes) }

    /// A hash by which a database recognises the key without storing it.
    public var checkValue: KeyedHash { hash(of: KeyedMessage(.keyCheck)) }

    private func hash(of message: KeyedMessage) -> KeyedHash {
        let words = code.code(for: message.bytes).words
        return KeyedHash(index: words.0, rest: words.1)
    }
}

/// A secret; logs and debuggers show only the name of its type.
public protocol HiddenValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension HiddenValue {
    public var description: String { "\(Self.self)(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

extension ServerKey: HiddenValue {}

/// The first 16 bytes of an HMAC-SHA256 under the server key, stored instead of an identifying value.
///
/// All possible fingerprints and addresses can be enumerated, so a hash without a key would hide nothing.
/// A database indexes ``index``, and compares ``rest`` in the row.
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
/// The purpose comes first. A text follows its length, and an optional value follows a flag. All other values have a
/// fixed length. So different values or purposes never have the same bytes.
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
        case secret = 20
        case user = 14
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
