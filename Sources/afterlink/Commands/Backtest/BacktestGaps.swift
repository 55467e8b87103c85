internal import Attribution
internal import Storage

/// What a database's records do not contain, in words and numbers.
struct BacktestGaps {
    let gaps: HistoryGaps
    /// Since when records are held, where there were some before; nil where none is missing.
    let firstHeld: Timestamp?

    /// Each as a name for programs, a number, and what is said of it.
    var entries: [(name: String, count: Int, text: String)] {
        [
            (
                "clicks_without_visitor", gaps.clicksWithoutVisitor,
                "clicks are from before their visitors were recorded: taps of one person may count as several people's."
            ),
            (
                "clicks_not_remade", gaps.clicksNotReconstructed,
                "clicks have fingerprints that their signals do not make any more, because tables, the app's languages"
                    + " or the server key were changed: these count in full, whatever their form."
            ),
            (
                "clicks_without_address", gaps.clicksWithoutAddress,
                "clicks have no address, or none that distinguishes visitors."
            ),
            (
                "clicks_consumed_before", gaps.clicksConsumedBefore,
                "clicks were consumed before the first check that is held, and stay so."
            ),
            (
                "launches_without_caller", gaps.launchesWithoutCaller,
                "checks are from before callers were recorded: repetitions among them are recognised by fingerprint and"
                    + " address alone."
            ),
            (
                "launches_without_address", gaps.launchesWithoutAddress,
                "checks have no address, or none that distinguishes visitors."
            ),
            (
                "launches_without_fingerprint", gaps.launchesWithoutFingerprint,
                "checks brought nothing that a fingerprint could find: they find nothing under any policy."
            ),
            (
                "launches_naming_other_click", gaps.launchesNamingOtherClick,
                "checks named a click by token or identifier and were not given it; which one is not recorded."
            ),
            (
                "launches_not_recorded", gaps.launchesNotRecorded,
                "checks of a flood are not recorded: others of the same time teach in their place, and they are counted"
                    + " nowhere above."
            ),
            (
                "matches_not_recorded", gaps.matchesNotRecorded,
                "matches have no record of their check: their clicks are free here."
            ),
            (
                "probabilities_not_known", gaps.probabilitiesNotKnown,
                "matches are from before their probability was recorded beyond its limit of 95 %: that is taken."
            ),
        ]
    }

    /// The gaps of these events; empty if the records are complete.
    func lines(current: ReplayPlan, proposed: ReplayPlan?) -> [String] {
        var lines = entries.filter { $0.count > 0 }.map { "\($0.count) \($0.text)" }
        let others = gaps.minimums.filter { $0.key != current.policy.minimumConfidence }
        if !others.isEmpty {
            let told = others.sorted { $0.key < $1.key }.map { "\($0.key) for \($0.value)" }
            lines.append(
                "The app has demanded another probability before (\(told.joined(separator: ", ")) checks);"
                    + " CURRENT goes by \(current.policy.minimumConfidence) throughout."
            )
        }
        if let firstHeld {
            lines.append(
                "Nothing is held from before \(firstHeld.iso8601), though there was traffic: what it had taught by then"
                    + " is not known here."
            )
            if let window = proposed?.window {
                let until = firstHeld.advanced(byMilliseconds: window.seconds * 1000)
                lines.append(
                    "Under the window that was asked for, launches before \(until.iso8601) may have come from clicks that"
                        + " are not held any more."
                )
            }
        }
        return lines
    }
}
