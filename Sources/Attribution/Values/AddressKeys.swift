internal import Crypto

/// The keys that hash addresses, a new one each day.
///
/// A day's key is derived from the day's seed, and the seed is derived from the previous day's seed, which it does not
/// reveal. Servers that share a seed therefore agree on every later key without communicating. A server that retains
/// the seed of one day has the keys from that day on, but none of the earlier ones; ``advanced(to:readyUntil:)``
/// destroys keys in this way. A key covers one day. After the attribution windows of all clicks of that day have ended,
/// the key can be destroyed.
public struct AddressKeys: Sendable {
    /// The bytes from which the keys of a day and the following days are derived, up to the day of the next seed.
    public struct Seed: Equatable, Sendable {
        public let day: Int64
        public let bytes: [UInt8]

        /// Returns nil unless there are 32 bytes.
        public init?(day: Int64, bytes: [UInt8]) {
            guard bytes.count == ServerKey.byteCount else { return nil }
            self.day = day
            self.bytes = bytes
        }

        fileprivate var next: Seed { Seed(on: day + 1, HMACSHA256(key: bytes).code(for: [1]).bytes) }

        fileprivate var key: AddressKey? {
            ServerKey(bytes: HMACSHA256(key: bytes).code(for: [2]).bytes).map {
                AddressKey(day: day, secret: $0)
            }
        }

        private init(on day: Int64, _ bytes: [UInt8]) {
            self.day = day
            self.bytes = bytes
        }
    }

    /// The time that a key covers, in milliseconds.
    public static let period: Int64 = 86_400_000

    /// The seeds in ascending order; the first one has the day of the oldest key.
    public let seeds: [Seed]
    private let precomputed: [AddressKey]
    /// Whether the clicks of all days before the first key's day were hashed under the first key, as in tests that set
    /// a clock back.
    ///
    /// If false, the earlier days had keys of their own, which were destroyed.
    public var coversEarlierDays = false

    /// The largest number of days from the first key's day to a day with a key of its own.
    private static let maximumDays: Int64 = 40_000
    /// The number of earlier days whose clicks are searched by a launch's address; the address of an older
    /// click is compared only if the fingerprint finds the click.
    static let searchedDays = 3

    /// Creates the keys of `seeds`; nil if there are none, or they are not in order.
    ///
    /// - Parameters:
    ///   - seeds: the seeds that the keys are derived from.
    ///   - time: keys are precomputed up to the day after this time; later keys are derived each time they are needed.
    public init?(_ seeds: [Seed], readyUntil time: Timestamp) {
        guard let first = seeds.first, zip(seeds, seeds.dropFirst()).allSatisfy({ $0.day < $1.day })
        else { return nil }
        self.seeds = seeds
        let last = min(max(Self.day(of: time) + 1, first.day), first.day + Self.maximumDays)
        var precomputed: [AddressKey] = []
        var seed = first
        while true {
            guard let key = seed.key else { return nil }
            precomputed.append(key)
            guard seed.day < last else { break }
            let day = seed.day + 1
            seed = seeds.first { $0.day == day } ?? seed.next
        }
        self.precomputed = precomputed
    }

    /// Returns the number of days since 1970, in UTC.
    public static func day(of time: Timestamp) -> Int64 {
        let (day, rest) = time.milliseconds.quotientAndRemainder(dividingBy: period)
        return rest < 0 ? day - 1 : day
    }

    public var firstDay: Int64 { precomputed[0].day }

    /// Returns the key of a time's day; the oldest one for an earlier time.
    public func key(at time: Timestamp) -> AddressKey { key(on: Self.day(of: time)) }

    /// Returns the key of a day; the oldest one for an earlier day.
    public func key(on day: Int64) -> AddressKey {
        let index = min(max(day - firstDay, 0), Self.maximumDays)
        if index < precomputed.count { return precomputed[Int(index)] }
        return seed(on: firstDay + index).key ?? precomputed[precomputed.count - 1]
    }

    /// Returns the previous day's key in the first ten minutes of a day, because the visitor's last click, or
    /// the first copy of a repeated post, may have been recorded under it.
    ///
    /// Nil later in the day, and on the first key's day.
    public func previousDayKey(at time: Timestamp) -> AddressKey? {
        let key = key(at: time)
        let age = time.milliseconds(since: Timestamp(milliseconds: key.day * Self.period))
        return (0..<Self.visitMilliseconds).contains(age) && key.day > firstDay
            ? self.key(on: key.day - 1) : nil
    }

    /// The time within which a visitor's clicks with one link count as one visit, in milliseconds.
    public static let visitMilliseconds: Int64 = 600_000

    /// Returns the address of a launch, hashed under the key of the launch's day and on demand under the keys
    /// of other days; nil for an address that distinguishes no visitors.
    public func address(_ address: NetworkAddress, at time: Timestamp) -> LaunchAddress? {
        let current = key(at: time)
        guard let hashes = current.addressHashes(of: address) else { return nil }
        let searched = min(Int64(Self.searchedDays), current.day - firstDay)
        let since = Timestamp(milliseconds: (current.day - searched) * Self.period)
        // After a clock was set back, the launch may be before the first key's day. Clicks of such a
        // day are hashed under the first key.
        let findsAllClicks = time < since || (coversEarlierDays && current.day - searched == firstDay)
        return LaunchAddress(hashes, searchedDays: Int(searched), since: findsAllClicks ? nil : since) {
            daysLater in
            let key = key(on: current.day + Int64(daysLater))
            return key.day == current.day + Int64(daysLater) ? key.addressHashes(of: address) : nil
        }
    }

    /// Returns only the keys of `day` and later days.
    public func advanced(to day: Int64, readyUntil time: Timestamp) -> AddressKeys {
        guard day > firstDay else { return self }
        let first = seed(on: min(day, firstDay + Self.maximumDays))
        return AddressKeys([first] + seeds.filter { $0.day > first.day }, readyUntil: time) ?? self
    }

    /// Returns the same keys before the day of a new seed, and the new seed's keys from that day on.
    ///
    /// A thief of the old seeds cannot derive the new seed's keys.
    public func renewed(from seed: Seed, readyUntil time: Timestamp) -> AddressKeys {
        derived(of: seeds.filter { $0.day < seed.day } + [seed], readyUntil: time)
    }

    /// Returns whether the keys of a time's day and of the next day are precomputed.
    public func isReady(for time: Timestamp) -> Bool {
        Self.day(of: time) + 1 < firstDay + Int64(precomputed.count)
            || Int64(precomputed.count) > Self.maximumDays
    }

    /// Returns the same keys, precomputed up to the day after `time`.
    public func prepared(until time: Timestamp) -> AddressKeys { derived(of: seeds, readyUntil: time) }

    /// Returns the keys of `seeds`, with this value's ``coversEarlierDays``; this value itself if `seeds` is invalid.
    private func derived(of seeds: [Seed], readyUntil time: Timestamp) -> AddressKeys {
        guard var keys = AddressKeys(seeds, readyUntil: time) else { return self }
        keys.coversEarlierDays = coversEarlierDays
        return keys
    }

    private func seed(on day: Int64) -> Seed {
        var seed = seeds.last { $0.day <= day } ?? seeds[0]
        while seed.day < day { seed = seed.next }
        return seed
    }
}

extension AddressKeys: HiddenValue {}

/// The secret of one day, which hashes addresses and values derived from them.
///
/// Once the secret is destroyed, a stored hash no longer reveals its address, not even by enumerating addresses.
public struct AddressKey: Sendable {
    /// The number of days since 1970, in UTC.
    public let day: Int64
    /// The day's secret as a key, for values derived from an address; ``addressHashes(of:)`` hashes the address itself.
    public let secret: ServerKey

    /// Returns the hashes stored instead of an address; nil for an address that distinguishes no visitors.
    public func addressHashes(of address: NetworkAddress) -> AddressHashes? {
        secret.addressHashes(of: address).map { AddressHashes(exact: $0.exact, near: $0.near, keyedOn: day) }
    }
}
