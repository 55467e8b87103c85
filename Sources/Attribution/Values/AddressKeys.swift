internal import Crypto

/// The keys under which addresses are hashed: another one each day.
///
/// Each day's secret is made of the one before and tells nothing of it. So servers that share a beginning agree on every
/// key to come without a word, and whoever keeps the secret of one day alone has all keys from that day on and none of
/// those before: ``advanced(to:)`` is how keys are destroyed. A day, because an address then is worth nothing to a thief
/// once the clicks of its day can be matched no more, by default two days after it came; and a launch compares itself with
/// clicks of hardly more than two days.
public struct AddressKeys: Sendable {
    /// Bytes that the keys from a day on are made of, up to the next link.
    public struct Link: Equatable, Sendable {
        public let day: Int64
        public let bytes: [UInt8]

        /// Nil unless there are 32 bytes.
        public init?(day: Int64, bytes: [UInt8]) {
            guard bytes.count == ServerKey.byteCount else { return nil }
            self.day = day
            self.bytes = bytes
        }

        /// What the next day's keys are made of.
        fileprivate var next: Link {
            Link(on: day + 1, HMACSHA256(key: bytes).code(for: [1]).bytes)
        }

        fileprivate var key: AddressKey? {
            ServerKey(bytes: HMACSHA256(key: bytes).code(for: [2]).bytes).map {
                AddressKey(day: day, key: $0)
            }
        }

        private init(on day: Int64, _ bytes: [UInt8]) {
            self.day = day
            self.bytes = bytes
        }
    }

    /// In milliseconds.
    public static let period: Int64 = 86_400_000

    /// In ascending order; the first says which day's key is the oldest there is.
    public let links: [Link]
    private let ready: [AddressKey]
    /// Whether all that came before the first day was hashed under its key, as where tests set a clock back to before the
    /// keys were made; else there were keys before it, and they were destroyed.
    public var reachesBack = false

    /// No clock is believed to be further ahead than so many days.
    private static let longest: Int64 = 40_000
    /// Clicks of so many days before are searched by the address of a launch; older ones are compared where their
    /// fingerprint leads to them.
    static let searchedDays = 3

    /// Nil without a link, or where they are not in order.
    ///
    /// - Parameters:
    ///   - links: what the keys are made of.
    ///   - moment: keys up to the day after this one are made at once, later ones each time that they are asked for.
    public init?(_ links: [Link], readyUntil moment: Timestamp) {
        guard let first = links.first, zip(links, links.dropFirst()).allSatisfy({ $0.day < $1.day }) else {
            return nil
        }
        self.links = links
        let last = min(max(Self.day(of: moment) + 1, first.day), first.day + Self.longest)
        var ready: [AddressKey] = []
        var link = first
        while true {
            guard let key = link.key else { return nil }
            ready.append(key)
            guard link.day < last else { break }
            let day = link.day + 1
            link = links.first { $0.day == day } ?? link.next
        }
        self.ready = ready
    }

    /// Days since 1970, in UTC.
    public static func day(of moment: Timestamp) -> Int64 {
        let (day, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: period)
        return rest < 0 ? day - 1 : day
    }

    public var firstDay: Int64 { ready[0].day }

    /// The key of a moment's day; the oldest one for moments before it.
    public func key(at moment: Timestamp) -> AddressKey { key(on: Self.day(of: moment)) }

    /// As above.
    public func key(on day: Int64) -> AddressKey {
        let index = min(max(day - firstDay, 0), Self.longest)
        if index < ready.count { return ready[Int(index)] }
        return link(on: firstDay + index).key ?? ready[ready.count - 1]
    }

    /// The key of the day before, in the first minutes of a day: under which the same visitor's last click may have been
    /// recorded, or the post that is repeated now.
    public func keyOfVisitor(before moment: Timestamp) -> AddressKey? {
        let key = key(at: moment)
        let age = moment.milliseconds(since: Timestamp(milliseconds: key.day * Self.period))
        return (0..<Self.visitMilliseconds).contains(age) && key.day > firstDay
            ? self.key(on: key.day - 1) : nil
    }

    /// How long a visitor's clicks with one link are taken for one visit, in milliseconds.
    public static let visitMilliseconds: Int64 = 600_000

    /// The address of a launch, as clicks of its own and other days may have it.
    public func address(_ address: NetworkAddress, at moment: Timestamp) -> LaunchAddress? {
        let present = key(at: moment)
        guard let hashes = present.addressHashes(of: address) else { return nil }
        let searched = min(Int64(Self.searchedDays), present.day - firstDay)
        let since = Timestamp(milliseconds: (present.day - searched) * Self.period)
        // By a clock that was set back it is a day before the first one, and what came before that has its key too.
        let isSinceEver = moment < since || (reachesBack && present.day - searched == firstDay)
        return LaunchAddress(hashes, searchedDays: Int(searched), since: isSinceEver ? nil : since) {
            daysLater in
            let key = key(on: present.day + Int64(daysLater))
            return key.day == present.day + Int64(daysLater) ? key.addressHashes(of: address) : nil
        }
    }

    /// The same keys without those of the days before one.
    public func advanced(to day: Int64, readyUntil moment: Timestamp) -> AddressKeys {
        guard day > firstDay else { return self }
        let first = link(on: min(day, firstDay + Self.longest))
        return AddressKeys([first] + links.filter { $0.day > first.day }, readyUntil: moment) ?? self
    }

    /// The same keys up to a day, and from then on others, which whoever has stolen these does not have.
    public func renewed(from link: Link, readyUntil moment: Timestamp) -> AddressKeys {
        remade(of: links.filter { $0.day < link.day } + [link], readyUntil: moment)
    }

    /// Whether the keys of a moment's day and the next are at hand.
    public func isReady(for moment: Timestamp) -> Bool {
        Self.day(of: moment) + 1 < firstDay + Int64(ready.count) || Int64(ready.count) > Self.longest
    }

    /// The same keys, made ready for a later day.
    public func prepared(until moment: Timestamp) -> AddressKeys {
        remade(of: links, readyUntil: moment)
    }

    /// Keys with the same first day.
    private func remade(of links: [Link], readyUntil moment: Timestamp) -> AddressKeys {
        guard var keys = AddressKeys(links, readyUntil: moment) else { return self }
        keys.reachesBack = reachesBack
        return keys
    }

    private func link(on day: Int64) -> Link {
        var link = links.last { $0.day <= day } ?? links[0]
        while link.day < day { link = link.next }
        return link
    }
}

extension AddressKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AddressKeys(hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

/// The secret of one day: addresses, and whatever is made of one, are hashed under it.
///
/// Once it is destroyed, nobody can find out which address a stored hash was made of, however few addresses there are.
public struct AddressKey: Sendable {
    /// Days since 1970, in UTC.
    public let day: Int64
    private let key: ServerKey

    init(day: Int64, key: ServerKey) {
        self.day = day
        self.key = key
    }

    /// What is stored instead of an address; nil for one that tells nothing.
    public func addressHashes(of address: NetworkAddress) -> AddressHashes? {
        key.addressHashes(of: address).map {
            AddressHashes(exact: $0.exact, near: $0.near, keyedOn: day)
        }
    }

    /// See ``ServerKey/visit(app:isTest:fingerprint:destinationOrLink:address:userAgent:)``.
    public func visit(
        app: AppID,
        isTest: Bool,
        fingerprint: Fingerprint?,
        destinationOrLink: String,
        address: NetworkAddress,
        userAgent: String
    ) -> KeyedHash {
        key.visit(
            app: app,
            isTest: isTest,
            fingerprint: fingerprint,
            destinationOrLink: destinationOrLink,
            address: address,
            userAgent: userAgent
        )
    }

    /// See ``ServerKey/post(of:campaignKey:journeyID:)``.
    public func post(of visit: KeyedHash, campaignKey: CampaignKey?, journeyID: JourneyID?) -> KeyedHash {
        key.post(of: visit, campaignKey: campaignKey, journeyID: journeyID)
    }

    /// See ``ServerKey/caller(key:isTest:fingerprint:evidence:address:userAgent:)``.
    public func caller(
        key apiKey: KeyID,
        isTest: Bool,
        fingerprint: Fingerprint?,
        evidence: String = "",
        address: NetworkAddress,
        userAgent: String
    ) -> KeyedHash {
        key.caller(
            key: apiKey,
            isTest: isTest,
            fingerprint: fingerprint,
            evidence: evidence,
            address: address,
            userAgent: userAgent
        )
    }

    /// See ``ServerKey/visitor(_:userAgent:)``.
    public func visitor(_ address: AddressHashes?, userAgent: String) -> UInt64 {
        key.visitor(address, userAgent: userAgent)
    }
}
