import Attribution
import Foundation
import Support

/// Writes a year's clicks straight into a database that nobody has open: what would take the server an hour.
struct Seeder {
    let plan: SeedPlan
    let template: ClickTemplate
    let serverKey: ServerKey
    /// From the day of the oldest click that can be matched on, as if the server had run since then.
    let addressKeys: AddressKeys
    private let database: PlainDatabase
    private let now = Int64(Date().timeIntervalSince1970 * 1000)

    init(_ plan: SeedPlan, into installation: Installation, _ template: ClickTemplate) throws {
        self.plan = plan
        self.template = template
        serverKey = try installation.serverKey()
        addressKeys = try installation.addressKeys(fromDaysBefore: SeedPlan.liveDays, now: now)
        database = try PlainDatabase(installation.database)
    }

    func run() throws {
        // Nothing is kept that could be undone: a database that is not finished is thrown away.
        try database.execute(
            """
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
            PRAGMA cache_size = -2000000; PRAGMA temp_store = MEMORY; BEGIN;
            """
        )
        try writeClicks()
        try database.execute(
            """
            INSERT INTO progress (name, value) VALUES ('closed_before', \(now - 86_400_000))
                ON CONFLICT DO UPDATE SET value = excluded.value;
            \(neededDays)
            COMMIT; PRAGMA journal_mode = WAL;
            """
        )
    }

    /// Until when the key of each day is needed, or the server would destroy it.
    private var neededDays: String {
        let days = addressKeys.firstDay...AddressKeys.day(of: Timestamp(milliseconds: now))
        return days.map { day in
            let end = (day + 1) * AddressKeys.period + SeedPlan.liveWindowSeconds * 1000
            return "INSERT INTO address_days (day, needed_until) VALUES (\(day), \(end));"
        }
        .joined(separator: "\n")
    }

    private func writeClicks() throws {
        var clicks = try SeededRows(template, database)
        var counters = try SeededCounters(template, database)
        var traits = SeededTraits()
        var lastID: Int64 = 0
        for number in 0..<plan.stored {
            let clickedAt = plan.clickedAt(number, now: now)
            lastID = max(lastID + 1, clickedAt << 16)
            let key = serverKey.keyed(SeededFingerprint.number(number))
            let addressKey = addressKeys.key(at: Timestamp(milliseconds: clickedAt))
            guard let address = addressKey.addressHashes(of: SampleAddress.number(number)) else {
                throw BenchmarkError("A click's address tells nothing.")
            }
            let trait = traits.next(at: clickedAt)
            let isClaimed = plan.isClaimed(number)
            let window = plan.isLive(number) ? SeedPlan.liveWindowSeconds : SeedPlan.closedWindowSeconds
            let click = SeededClick(
                id: lastID,
                clickedAt: clickedAt,
                windowSeconds: window,
                key: key,
                address: address,
                trait: traits.all[trait],
                closedAs: plan.isLive(number) ? nil : isClaimed ? .alreadyClaimed : .expired
            )
            try clicks.insert(click)
            try counters.count(trait, of: traits, at: clickedAt, isClaimed: isClaimed)
            if plan.isLive(number) { counters.countLive(expiringAt: click.expiresAt) }
        }
        try counters.finish(traits)
    }
}

/// A click that is made up.
struct SeededClick {
    let id: Int64
    let clickedAt: Int64
    let windowSeconds: Int64
    let key: KeyedHash
    let address: AddressHashes
    let trait: SeededTraits.Trait
    /// Nil while it can be matched.
    let closedAs: NoMatchReason?

    var fingerprint: Int64 { Int64(bitPattern: key.index) }
    var fingerprintRest: Int64 { Int64(bitPattern: key.rest) }
    var exactAddress: Int64 { Int64(bitPattern: address.exact) }
    var nearAddress: Int64 { Int64(bitPattern: address.near) }
    var expiresAt: Int64 { clickedAt + windowSeconds * 1000 }
}
