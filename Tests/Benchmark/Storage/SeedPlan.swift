/// How many clicks a database is to hold: a year's, of which the newest can still be matched.
///
/// The others expired, the last of them three days before, and every tenth of them was claimed.
struct SeedPlan {
    let stored: Int
    let live: Int

    /// Clicks of the last day, all of which can be matched for a month.
    static func live(_ count: Int) -> SeedPlan { SeedPlan(stored: count, live: count) }

    var name: String { "\(stored)-\(live)" }

    /// Moves with how rows are made, so that older ones are not taken for them.
    static let version = 3
    /// How old stored clicks may be when they are used: well before live ones expire.
    static let shelfLife = 14.0 * 86_400

    static let liveWindowSeconds: Int64 = 2_592_000
    /// Clicks that can be matched are no more than so many days of UTC before the day when they are stored.
    static let liveDays: Int64 = 1
    static let closedWindowSeconds: Int64 = 86_400
    private static let day: Int64 = 86_400_000

    /// When the click of a number was made.
    func clickedAt(_ number: Int, now: Int64) -> Int64 {
        let closed = stored - live
        guard number < closed else {
            return now - Self.day + Self.share(number - closed, of: live, in: Self.day - 3_600_000)
        }
        return now - 366 * Self.day + Self.share(number, of: closed, in: 362 * Self.day)
    }

    func isLive(_ number: Int) -> Bool { number >= stored - live }
    func isClaimed(_ number: Int) -> Bool { !isLive(number) && number.isMultiple(of: 10) }

    private static func share(_ part: Int, of count: Int, in span: Int64) -> Int64 {
        Int64(Double(part) / Double(max(count, 1)) * Double(span))
    }
}
