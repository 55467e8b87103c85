internal import Crypto

/// The server keys of a service: the one that everything new is hashed under, and those that what is stored may have
/// been hashed under.
public struct ServerKeys: Sendable {
    /// Under which clicks are stored and tokens are made.
    public let present: ServerKey
    /// Under which clicks and tokens may be found besides, those that will be the present one before those that were.
    public let others: [ServerKey]
    /// The one that has been known for longest: what is hashed under it is the same before and after another one takes
    /// the present one's place.
    public let oldest: ServerKey

    /// - Parameters:
    ///   - present: under which everything new is hashed.
    ///   - upcoming: those that take its place soon, which other processes may be using already.
    ///   - former: those whose place it took, the newest first.
    public init(_ present: ServerKey, upcoming: [ServerKey] = [], former: [ServerKey] = []) {
        self.present = present
        others = upcoming + former
        oldest = former.last ?? present
    }

    /// The present one first.
    public var all: [ServerKey] { [present] + others }
}

/// What a store says of the server keys that it is opened with.
public enum ServerKeyRecognition: Equatable, Sendable {
    /// They are its own, except for so many under which clicks may still be stored.
    case own(missing: Int)
    /// What it holds was stored under another one.
    case foreign
}

/// Which keys a store has no use for any more.
public struct RequiredKeys: Equatable, Sendable {
    /// The oldest record that anything could be found by; nil for an empty store.
    public var oldestRecord: Timestamp?
    /// When server keys ceased to be the present one, by ``ServerKey/check``'s first word.
    public var replaced: [UInt64: Timestamp]
    /// The first day, by ``AddressKeys/day(of:)``, from which a click can still be matched; nil where there is none.
    public var firstAddressDay: Int64?

    public init(
        oldestRecord: Timestamp? = nil,
        replaced: [UInt64: Timestamp] = [:],
        firstAddressDay: Int64? = nil
    ) {
        self.oldestRecord = oldestRecord
        self.replaced = replaced
        self.firstAddressDay = firstAddressDay
    }

    /// How long after it was replaced a key may still be used by a process that has not noticed, in milliseconds.
    static let margin: Int64 = 3_600_000

    /// Whether something that was stored under a key, which another one replaced at a moment, may be there.
    public func needsKey(replacedAt moment: Timestamp, at now: Timestamp) -> Bool {
        let end = moment.advanced(byMilliseconds: Self.margin)
        return now <= end || (oldestRecord.map { $0 <= end } ?? false)
    }
}

/// The server's secret: everything that could be guessed by trying is stored under it.
///
/// Without it a restored database matches nothing, so that a backup takes it along. It never shows in text.
public struct ServerKey: Sendable {
    public static let byteCount = 32

    private let code: HMACSHA256

    /// Nil unless there are exactly 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        code = HMACSHA256(key: bytes)
    }

    /// What is stored instead of a fingerprint.
    public func keyed(_ fingerprint: Fingerprint) -> KeyedHash {
        var message = KeyedMessage(.fingerprint)
        message.append(fingerprint)
        return hash(of: message)
    }

    /// Who clicked on what: repeated posts of one visit share it.
    ///
    /// What was clicked on is the deep link's URL, or the slug of a link of ours.
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

    /// Hashes what a post says of its visit: posts that agree in all of it within ten seconds are one click.
    ///
    /// The journey is the one that the post brought, nil for one that the server made: posts with and without are two.
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

    /// Who asks: a caller without an install id may have a lost answer again when all of this is the same.
    ///
    /// The evidence is what a launch without a fingerprint brings instead: the texts of its tokens and ids.
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

    /// For the caller's own `idempotency_key`.
    public func idempotency(app: AppID, isTest: Bool, key: String) -> KeyedHash {
        var message = KeyedMessage(.idempotency)
        message.append(app)
        message.append(isTest)
        message.append(key)
        return hash(of: message)
    }

    /// What is stored instead of an advertising id, with the click that an ad network put it on.
    public func advertisingID(app: AppID, isTest: Bool, id: AdvertisingID) -> KeyedHash {
        var message = KeyedMessage(.advertisingID)
        message.append(app)
        message.append(isTest)
        message.append(UInt64(id.kind == .idfa ? 1 : 2))
        message.append(id.high)
        message.append(id.low)
        return hash(of: message)
    }

    /// What is stored instead of an address, cut to one of the levels on which addresses are compared.
    func addressHash(of address: NetworkAddress, bits level: UInt64) -> UInt64 {
        var message = KeyedMessage(.address)
        message.append(level)
        message.append(address)
        return hash(of: message).index
    }

    /// By what one visitor's clicks are known again: his exact address and his agent; the agent alone where the address
    /// tells nothing.
    public func visitor(_ address: AddressHashes?, userAgent: String) -> UInt64 {
        var message = KeyedMessage(.visitor)
        message.append(address?.exact ?? 0)
        message.append(userAgent)
        return hash(of: message).index
    }

    /// What chooses a variant of a link for a visitor: the same one each time, and for another link another one.
    ///
    /// Of the address only the network counts that one person moves within: IPv6 addresses change within their /64.
    public func variantChoice(of link: LinkID, address: NetworkAddress, userAgent: String) -> UInt64 {
        var message = KeyedMessage(.variant)
        message.append(link)
        message.append(address.prefix(ipv4Bits: 32, ipv6Bits: 64))
        message.append(userAgent)
        return hash(of: message).index
    }

    /// What signs a click token: the first bytes of it stand in the token.
    func signature(of claim: ClickToken.Claim, for app: AppID) -> [UInt8] {
        var message = KeyedMessage(.clickToken)
        message.append(UInt64(ClickToken.Claim.version))
        message.append(app)
        message.append(claim.click)
        message.append(UInt64(claim.expirySeconds))
        return Array(code.code(for: message.bytes).bytes.prefix(ClickToken.signatureByteCount))
    }

    /// What a database keeps to know its key again; it tells nothing of the key.
    public var check: KeyedHash {
        hash(of: KeyedMessage(.keyCheck))
    }

    private func hash(of message: KeyedMessage) -> KeyedHash {
        let words = code.code(for: message.bytes).words
        return KeyedHash(index: words.0, rest: words.1)
    }
}

extension ServerKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "ServerKey(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}
