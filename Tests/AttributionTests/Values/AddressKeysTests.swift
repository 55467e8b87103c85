import Attribution
import Testing

@Suite("Keys for addresses")
struct AddressKeysTests {
    private static let day = AddressKeys.period
    private let address = NetworkAddress(high: 0, low: 0xFFFF_CB00_7109)
    private let neighbour = NetworkAddress(high: 0, low: 0xFFFF_CB00_710A)

    private func noon(_ day: Int64) -> Timestamp { Timestamp(milliseconds: day * Self.day + Self.day / 2) }

    private func seed(_ day: Int64, _ byte: UInt8 = 1) throws -> AddressKeys.Seed {
        try #require(AddressKeys.Seed(day: day, bytes: Array(repeating: byte, count: 32)))
    }

    private func keys(from day: Int64, ready: Int64? = nil) throws -> AddressKeys {
        try #require(AddressKeys([seed(day)], readyUntil: noon(ready ?? day)))
    }

    private func hashes(_ keys: AddressKeys, on day: Int64) throws -> AddressHashes {
        try #require(keys.key(at: noon(day)).addressHashes(of: address))
    }

    @Test("differ from day to day, and are the same for the same seed, precomputed or not")
    func everyDay() throws {
        let keys = try keys(from: 100, ready: 103)
        let late = try self.keys(from: 100)
        var seen: Set<AddressHashes> = []
        for day in Int64(100)..<112 {
            let own = try hashes(keys, on: day)
            #expect(try own == hashes(late, on: day))
            #expect(seen.insert(own).inserted)
        }
        #expect(keys.key(at: Timestamp(milliseconds: 101 * Self.day - 1)).day == 100)
        #expect(keys.key(at: Timestamp(milliseconds: 101 * Self.day)).day == 101)
    }

    @Test(
        "are the same in all releases for the same seed",
        arguments: [
            (100, 0x92cc_b630_a1ba_ebd0, 0x92f9_c34d_dcd0_47ed),
            (101, 0x945b_f851_d9aa_87fb, 0x954f_54ce_5c0e_21fe),
            (103, 0x9c93_427a_343d_9d78, 0x9c5b_c726_fa28_33e0),
        ] as [(Int64, UInt64, UInt64)]
    )
    func known(day: Int64, exact: UInt64, near: UInt64) throws {
        // Computed by another program: HMAC-SHA-256 of 1 for the next day's secret, of 2 for the day's key.
        #expect(try hashes(keys(from: 100), on: day) == AddressHashes(exact: exact, near: near))
    }

    @Test("stay the same for later days when the keys of earlier days are destroyed")
    func advanced() throws {
        let keys = try keys(from: 100)
        let rest = keys.advanced(to: 104, readyUntil: noon(104))
        #expect(rest.firstDay == 104 && rest.seeds.count == 1)
        for day in Int64(104)..<140 { #expect(try hashes(rest, on: day) == hashes(keys, on: day)) }
        // A time before the first day gets the oldest key.
        #expect(try hashes(rest, on: 103) == hashes(rest, on: 104))
        #expect(try hashes(rest, on: 103) != hashes(keys, on: 103))
        #expect(rest.seeds[0].bytes != keys.seeds[0].bytes)
        #expect(keys.advanced(to: 99, readyUntil: noon(99)).firstDay == 100)
    }

    @Test("come from a new seed from one day on, and from the old seed before that day")
    func renewed() throws {
        let keys = try keys(from: 100)
        let other = keys.renewed(from: try seed(103, 2), readyUntil: noon(101))
        for day in Int64(100)..<103 { #expect(try hashes(other, on: day) == hashes(keys, on: day)) }
        for day in Int64(103)..<108 { #expect(try hashes(other, on: day) != hashes(keys, on: day)) }
        let ready = other.prepared(until: noon(107))
        let rest = other.advanced(to: 105, readyUntil: noon(105))
        for day in Int64(105)..<112 {
            #expect(try hashes(ready, on: day) == hashes(other, on: day))
            #expect(try hashes(rest, on: day) == hashes(other, on: day))
        }
        #expect(other.advanced(to: 102, readyUntil: noon(102)).seeds.map(\.day) == [102, 103])
    }

    @Test("compare a launch with clicks of other days as long as those days' keys exist")
    func otherDays() throws {
        let keys = try keys(from: 100, ready: 160)
        for clicked in Int64(110)..<142 {
            var launch = try #require(keys.address(address, at: noon(140)))
            let click = try hashes(keys, on: clicked)
            #expect(launch.agreement(with: click) == .exact, "\(clicked)")
            let near = try #require(keys.key(on: clicked).addressHashes(of: neighbour))
            #expect(launch.agreement(with: near) == .near)
            let other = NetworkAddress(high: 0, low: 0xFFFF_0808_0808)
            let elsewhere = try #require(keys.key(on: clicked).addressHashes(of: other))
            #expect(launch.agreement(with: elsewhere) == .differs)
        }
        let rest = keys.advanced(to: 139, readyUntil: noon(140))
        var launch = try #require(rest.address(address, at: noon(140)))
        #expect(launch.agreement(with: try hashes(keys, on: 139)) == .exact)
        #expect(launch.agreement(with: try hashes(keys, on: 138)) == .missing)
        #expect(launch.agreement(with: nil) == .missing)
    }

    @Test("put their index into hashes, so that hashes of different days are not compared")
    func keyIndexes() throws {
        let keys = try keys(from: 100)
        let (one, next) = (try hashes(keys, on: 100), try hashes(keys, on: 101))
        #expect(AddressHashes.agreement(one, next) == .missing)
        #expect(AddressHashes.agreement(one, one) == .exact)
    }

    @Test("are searched for the last four days", arguments: [(100, 1), (101, 2), (130, 4)])
    func searched(day: Int64, count: Int) throws {
        let keys = try keys(from: 100)
        var launch = try #require(keys.address(address, at: noon(day)))
        let searched = launch.searched()
        #expect(searched.count == count && Set(searched).count == count)
        for (index, hashes) in searched.enumerated() {
            #expect(try hashes == self.hashes(keys, on: day - Int64(index)))
        }
        #expect(launch.since == Timestamp(milliseconds: (day - Int64(count) + 1) * Self.day))
    }

    @Test("find clicks of any age on days before the first key, and soon after it if no key existed before")
    func before() throws {
        var keys = try keys(from: 100)
        func since(_ day: Int64) throws -> Timestamp? {
            try #require(keys.address(address, at: noon(day))).since
        }
        let first = Timestamp(milliseconds: 100 * Self.day)
        let later = Timestamp(milliseconds: 107 * Self.day)
        #expect(try since(99) == nil && since(100) == first && since(110) == later)
        keys.coversEarlierDays = true
        #expect(try since(99) == nil && since(100) == nil && since(103) == nil && since(110) == later)
        #expect(keys.prepared(until: noon(140)).coversEarlierDays)
        #expect(keys.renewed(from: try seed(103, 2), readyUntil: noon(101)).coversEarlierDays)
        #expect(!keys.advanced(to: 104, readyUntil: noon(104)).coversEarlierDays, "earlier days had keys")
    }

    @Test("include the previous day's key only in the first ten minutes of a day")
    func visitors() throws {
        let keys = try keys(from: 100)
        let midnight = Timestamp(milliseconds: 105 * Self.day)
        #expect(keys.previousDayKey(at: midnight)?.day == 104)
        #expect(keys.previousDayKey(at: midnight.advanced(byMilliseconds: 599_999))?.day == 104)
        #expect(keys.previousDayKey(at: midnight.advanced(byMilliseconds: 600_000)) == nil)
        #expect(keys.previousDayKey(at: Timestamp(milliseconds: 100 * Self.day)) == nil)
    }

    @Test("exist at any time of the clock", arguments: [Int64.min, -1, 0, 1 << 45, .max])
    func anyTime(milliseconds: Int64) throws {
        let keys = try keys(from: 20_000)
        let moment = Timestamp(milliseconds: milliseconds)
        #expect(keys.key(at: moment).addressHashes(of: address) != nil)
        #expect(keys.address(address, at: moment) != nil)
        #expect(keys.prepared(until: moment).key(at: moment).day >= 20_000)
        #expect(keys.advanced(to: AddressKeys.day(of: moment), readyUntil: moment).firstDay >= 20_000)
    }

    @Test("need seeds of 32 bytes in the order of their days, and do not appear in descriptions")
    func form() throws {
        #expect(AddressKeys.Seed(day: 1, bytes: [1]) == nil)
        #expect(AddressKeys([], readyUntil: noon(1)) == nil)
        #expect(try AddressKeys([seed(2), seed(2)], readyUntil: noon(1)) == nil)
        #expect(try "\(keys(from: 1))" == "AddressKeys(hidden)")
        #expect(try Mirror(reflecting: keys(from: 1)).children.isEmpty)
    }
}

@Suite("Required keys")
struct RequiredKeysTests {
    private let replaced = Timestamp(milliseconds: 1_000_000_000)

    @Test(
        "include a former server key for an hour, and then until all records from its time are deleted",
        arguments: [
            (oldest: nil, now: 3_600_000, isNeeded: true), (oldest: nil, now: 3_600_001, isNeeded: false),
            (oldest: -5, now: 900_000_000, isNeeded: true),
            (oldest: 3_600_000, now: 900_000_000, isNeeded: true),
            (oldest: 3_600_001, now: 900_000_000, isNeeded: false),
        ] as [(oldest: Int64?, now: Int64, isNeeded: Bool)]
    )
    func formerKey(oldest: Int64?, now: Int64, isNeeded: Bool) {
        let needs = RequiredKeys(oldestRecord: oldest.map { replaced.advanced(byMilliseconds: $0) })
        #expect(needs.needsKey(replacedAt: replaced, at: replaced.advanced(byMilliseconds: now)) == isNeeded)
    }
}
