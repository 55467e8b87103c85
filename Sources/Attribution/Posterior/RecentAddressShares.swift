/// Where the newest clicks with one fingerprint come from.
///
/// When a crowd begins to click, at a stadium or in a lecture hall, a day's counts still call its address rare.
struct RecentAddressShares {
    private var clicks = 0.0
    private var atExact = 0.0
    private var atNear = 0.0

    /// Made from the newest clicks and older ones that were told because they agree.
    init(_ candidates: [Candidate]) {
        let live = candidates.filter { $0.claimedAt == nil && $0.hasAddress }
        // Clicks that differ were told for being new: none from their time on is missing.
        guard let since = live.lazy.filter({ $0.address == .differs }).map(\.clickedAt).min() else { return }
        for candidate in live where candidate.clickedAt >= since {
            clicks += 1
            if candidate.address == .exact { atExact += 1 }
            if candidate.address == .near { atNear += 1 }
        }
    }

    /// The share of the others that are at the launch's exact address; one of them may be the same person with
    /// another browser.
    func exact(own: Double) -> Double { share(atExact - own - 1) }

    /// The share of the others that are near it.
    func near(own: Double) -> Double { share(atNear - own - 1) }

    private func share(_ others: Double) -> Double {
        clicks >= 8 && others > 0 ? others / clicks : 0
    }
}
